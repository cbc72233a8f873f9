package io.mortise.memcached;

import io.mortise.StoreUnfitException;
import io.mortise.spi.time.DurationText;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One connection, which is not used again once it broke. One thread reads, one at a time writes,
 * anybody may {@link #kill()}.
 */
final class MetaConnection {
  private final MemcachedTarget target;
  private final Socket socket = new Socket(Proxy.NO_PROXY);
  private @Nullable MetaReader in;
  private volatile boolean overdue;

  MetaConnection(MemcachedTarget target) {
    this.target = target;
  }

  /** Asks on a new connection, before it is used. */
  interface ConnectionCheck {
    /** Asks. Blocks. */
    void check(MetaConnection connection) throws IOException;
  }

  /**
   * Connects, and looks whether the server is fit. Blocks, for twice the timeout at most.
   *
   * @throws IOException if it cannot be reached, or does not answer in time
   * @throws StoreUnfitException if it must not be used
   */
  void open(ConnectionCheck check) throws IOException {
    long millis = target.timeout().toMillis();
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getByName(target.host()), target.port());
    socket.connect(address, (int) millis);
    socket.setTcpNoDelay(true);
    socket.setKeepAlive(true);
    // A server may send a byte now and then for ever.
    CompletableFuture<Void> limit =
        CompletableFuture.runAsync(
            () -> {
              overdue = true;
              kill();
            },
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS, Runnable::run));
    try {
      in = new MetaReader(socket.getInputStream());
      greet();
      check.check(this);
    } catch (IOException e) {
      throw overdue
          ? new IOException("no answer within " + DurationText.format(target.timeout()), e)
          : e;
    } finally {
      limit.cancel(false);
    }
  }

  private void greet() throws IOException {
    String credentials = target.credentials();
    if (credentials != null) {
      MetaReply reply = ask(MetaCommand.writing("set mortise 0 0", credentials)).get(0);
      if (!reply.is("STORED")) {
        throw new StoreUnfitException(
            "The server refuses the user or the password (store=%s): %s."
                .formatted(target, reply.shown()));
      }
    }
    // Alone: a server that wants a user answers nothing after its first refusal.
    MetaReply greeting = ask(MetaCommand.classic("mn")).get(0);
    if (greeting.line().contains("unauthenticated")) {
      throw new StoreUnfitException(
          "The server wants a user (store=%s). Write memcached://user:password@host."
              .formatted(target));
    } else if (!greeting.is("MN")) {
      throw new StoreUnfitException(
          "The server does not know the commands that locks need (store=%s): %s. If another server has answered, correct host and port; else use memcached 1.6 or later, without a proxy."
              .formatted(target, greeting.shown()));
    }
    ServerSettings.check(target, ask(MetaCommand.classic("stats settings")).get(0).statistics());
  }

  /** Asks on a connection that nobody else uses yet. Blocks. */
  List<MetaReply> ask(MetaCommand... commands) throws IOException {
    MetaExchange exchange = new MetaExchange(List.of(commands), 0, 0);
    out().write(exchange.bytes);
    while (!exchange.add(read())) {
      // The next.
    }
    return exchange.replies();
  }

  /** Takes commands. A write blocks while the server takes nothing in. */
  OutputStream out() throws IOException {
    return socket.getOutputStream();
  }

  /** The next reply. Blocks. */
  MetaReply read() throws IOException {
    return reader().read();
  }

  private MetaReader reader() throws IOException {
    MetaReader from = in;
    if (from == null) {
      throw new IOException("There is no connection yet.");
    }
    return from;
  }

  /** Whether nothing is there to be read, as far as that is known without asking. */
  boolean isQuiet() throws IOException {
    return reader().isEmpty();
  }

  /** Ends reads and writes at once, with an exception for the threads in them. */
  void kill() {
    try {
      socket.close();
    } catch (IOException e) {
      // It is gone either way.
    }
  }
}
