package io.mortise.torture.run;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A worker's connection to the {@link ResourceServer}. For one thread. */
final class ResourceClient implements AutoCloseable {
  private final Socket socket;
  private final BufferedReader in;
  private final BufferedWriter out;
  private final int worker;

  ResourceClient(int port, int worker) throws IOException {
    this.worker = worker;
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    out =
        new BufferedWriter(
            new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8));
  }

  /** The value; -1 if the token is stale. */
  long enter(String lock, long token) throws IOException {
    String answer = ask("enter " + lock + " " + worker + " " + token);
    return answer.equals("stale") ? -1 : Long.parseLong(answer);
  }

  boolean write(String lock, long token, long value) throws IOException {
    return ask("write " + lock + " " + worker + " " + token + " " + value).equals("ok");
  }

  boolean take(String lock, long millis) throws IOException {
    return ask("take " + lock + " " + worker + " " + millis).equals("ok");
  }

  void drop(String lock) throws IOException {
    ask("drop " + lock + " " + worker);
  }

  boolean stand(String lock, long millis) throws IOException {
    return ask("stand " + lock + " " + worker + " " + millis).equals("ok");
  }

  void leave(String lock) throws IOException {
    ask("leave " + lock + " " + worker);
  }

  private String ask(String line) throws IOException {
    out.write(line);
    out.write('\n');
    out.flush();
    String answer = in.readLine();
    if (answer == null) {
      throw new IOException("The resource has closed its door.");
    }
    return answer;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
