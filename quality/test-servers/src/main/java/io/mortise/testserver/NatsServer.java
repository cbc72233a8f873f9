package io.mortise.testserver;

import io.mortise.testkit.server.ServerProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A NATS server in its own process, alone, on a free port of the loopback: the program {@code
 * nats-server} of the PATH, with JetStream. Its folder and process are removed by {@link #close()},
 * and when the JVM ends. For one thread.
 */
public final class NatsServer extends ServerProcess {
  private static final int ANSWER_MILLIS = 30_000;

  private NatsServer(int port, Path folder, List<String> command) {
    super("nats", port, folder, command, () -> isReady(port));
  }

  /** The program on the PATH; empty if there is none. */
  public static Optional<Path> installed() {
    return ServerProcess.find("nats-server");
  }

  /**
   * Starts a server with JetStream, and waits until it serves.
   *
   * @param program see {@link #installed()}
   * @param arguments more of them, in the program's own form
   * @throws IllegalStateException if it does not come up; the message has its output
   */
  public static NatsServer start(Path program, String... arguments) {
    List<String> all = new ArrayList<>(List.of("-js"));
    all.addAll(List.of(arguments));
    return start(program, all);
  }

  /**
   * The same without JetStream.
   *
   * @param program see {@link #installed()}
   */
  public static NatsServer startWithoutJetStream(Path program) {
    return start(program, List.of());
  }

  private static NatsServer start(Path program, List<String> arguments) {
    int port = ServerProcess.freePort();
    try {
      Path folder = Files.createTempDirectory("mortise-nats");
      List<String> command = new ArrayList<>();
      command.add(program.toString());
      command.addAll(List.of("-a", "127.0.0.1", "-p", Integer.toString(port)));
      command.addAll(List.of("-sd", folder.resolve("data").toString()));
      command.addAll(arguments);
      return new NatsServer(port, folder, command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** It greets each connection. */
  private static boolean isReady(int port) throws IOException {
    try (Socket socket = ServerProcess.connect(port);
        BufferedReader reader =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
      String greeting = reader.readLine();
      return greeting != null && greeting.startsWith("INFO ");
    }
  }

  /**
   * Sends a request, as to JetStream's API, and waits for the answer.
   *
   * @return the answer's payload, of one line
   */
  public String ask(String subject, String payload) {
    String request =
        "CONNECT {\"verbose\":false}\r\nSUB answer 1\r\nPUB %s answer %s\r\n%s\r\n"
            .formatted(subject, payload.length(), payload);
    try (Socket socket = ServerProcess.connect(port);
        BufferedReader reader =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
      socket.setSoTimeout(ANSWER_MILLIS);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        if (line.startsWith("MSG ")) {
          return String.valueOf(reader.readLine());
        }
      }
      throw new IOException("NATS closed the connection.");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@code nats://127.0.0.1:port}. */
  @Override
  public String url() {
    return "nats://127.0.0.1:" + port;
  }
}
