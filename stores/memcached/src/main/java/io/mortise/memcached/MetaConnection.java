package io.mortise.memcached;

import io.mortise.StoreUnfitException;
import io.mortise.spi.time.DurationText;
import io.mortise.support.internal.server.SocketKeepAlive;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.UnknownHostException;
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

  /** Another one for each address that is tried. */
  private volatile Socket socket = unconnected();

  private @Nullable MetaReader in;
  private volatile boolean overdue;
  private volatile boolean killed;

  /** The item of its server's clock, by which servers are told apart; empty if it is not known. */
  private volatile String item = "";

  MetaConnection(MemcachedTarget target) {
    this.target = target;
  }

  /** Not through the proxy of the JVM, which is meant for other servers. */
  private static Socket unconnected() {
    return new Socket(Proxy.NO_PROXY);
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
    connect(InetAddress.getAllByName(target.host()), millis);
    // A server may send a byte now and then for ever.
    CompletableFuture<Void> limit =
        CompletableFuture.runAsync(
            this::giveUp,
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS, Runnable::run));
    try {
      in = new MetaReader(socket.getInputStream());
      greet();
      check.check(this);
    } finally {
      limit.cancel(false);
    }
  }

  /** Tries one address after the other, with an equal share of the time each. */
  private void connect(InetAddress[] addresses, long millis) throws IOException {
    IOException failure = new UnknownHostException(target.host());
    for (InetAddress address : addresses) {
      Socket trying = socket;
      try {
        SocketKeepAlive.connect(
            trying,
            new InetSocketAddress(address, target.port()),
            (int) Math.max(1, millis / addresses.length));
        return;
      } catch (IOException e) {
        failure = e;
        trying.close();
      }
      // Replace the socket before killed is read: a later kill() then closes the new one.
      socket = unconnected();
      if (killed) {
        break;
      }
    }
    throw failure;
  }

  private void greet() throws IOException {
    String credentials = target.credentials();
    if (credentials != null) {
      MetaReply reply = greeted(MetaCommand.writing("set mortise 0 0", credentials));
      if (!reply.is("STORED")) {
        throw new StoreUnfitException(
            "The server refuses the user or the password (store=%s): %s."
                .formatted(target, reply.shown()));
      }
    }
    // Alone: a server that wants a user answers nothing after its first refusal.
    MetaReply greeting = greeted(MetaCommand.classic("mn"));
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

  /**
   * Asks, and passes an answer on. A server that has all connections that it takes says so unasked,
   * and hangs up; one that speaks TLS sends an alert.
   */
  private MetaReply greeted(MetaCommand command) throws IOException {
    MetaReply reply = ask(command).get(0);
    if (reply.line().contains("Too many open connections")) {
      throw new IOException("it has as many connections as it takes (-c)");
    } else if (reply.line().startsWith("\u0015")) {
      throw speaksTls(target, new IOException("It answered with an alert of TLS."));
    }
    return reply;
  }

  /** Of a server that cannot be used for its TLS. */
  static StoreUnfitException speaksTls(MemcachedTarget target, Throwable cause) {
    return new StoreUnfitException(
        "Memcached speaks TLS on this port, which this store does not (store=%s). Give a port without TLS, or a proxy of this host that adds it, such as stunnel."
            .formatted(target),
        cause);
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

  /** It leads to the server that has this item. */
  void meets(String found) {
    item = found;
  }

  /** Whether it has met another item than that, which may be empty. */
  boolean hasMetOther(String found) {
    return !item.isEmpty() && !item.equals(found);
  }

  /** Ends it, as no answer has come in time. */
  void giveUp() {
    overdue = true;
    kill();
  }

  /** Why it broke: of one that was given up the exception tells only that. */
  Throwable why(Throwable failure) {
    return overdue
        ? new IOException("no answer within " + DurationText.format(target.timeout()), failure)
        : failure;
  }

  /** Ends reads and writes at once, with an exception for the threads in them. */
  void kill() {
    killed = true;
    try {
      socket.close();
    } catch (IOException e) {
      // It is gone either way.
    }
  }
}
