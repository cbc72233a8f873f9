package io.mortise.bench.subject;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.bench.subject.Subjects.StoreKind;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Two meta commands of memcached, written by hand over a blocking socket for each thread: an item
 * is added, and deleted if it is still that one. No renewal; where the memory is full, it may
 * delete another's item.
 */
final class MemcachedItemLock implements Subject {
  private final String host;
  private final int port;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  MemcachedItemLock(StoreUrls storeUrls) {
    URI server = URI.create("http://" + storeUrls.address(StoreKind.MEMCACHED));
    host = server.getHost();
    port = server.getPort();
  }

  @Override
  public LockHandle lockHandle(String lock) throws IOException {
    Socket socket = new Socket(host, port);
    socket.setTcpNoDelay(true);
    open.add(socket);
    InputStream in = new BufferedInputStream(socket.getInputStream());
    String value = UUID.randomUUID().toString();
    byte[] add =
        "ms raw/%s %d T30 ME c\r\n%s\r\n".formatted(lock, value.length(), value).getBytes(UTF_8);
    String delete = "md raw/" + lock + " C";
    return new LockHandle() {
      private String cas = "";

      private String ask(byte[] command) throws IOException {
        socket.getOutputStream().write(command);
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
          if (c < 0) {
            throw new IOException("Memcached closed the connection.");
          }
          line.append((char) c);
        }
        return line.toString().trim();
      }

      @Override
      public boolean take(long waitMillis) throws IOException {
        String answer = ask(add);
        if (!answer.startsWith("HD c")) {
          return false;
        }
        cas = answer.substring("HD c".length());
        return true;
      }

      @Override
      public void release() throws IOException {
        String answer = ask((delete + cas + "\r\n").getBytes(UTF_8));
        if (!answer.startsWith("HD")) {
          throw new IllegalStateException("Lock '" + lock + "' was no longer held: " + answer);
        }
      }
    };
  }

  @Override
  public void close() {
    for (Socket socket : open) {
      try {
        socket.close();
      } catch (IOException e) {
        // It is of no use any more.
      }
    }
  }
}
