package io.mortise.support.http;

import io.mortise.spi.time.Ticker;
import io.mortise.support.http.HttpServers.HttpRequest;
import io.mortise.support.internal.server.SocketKeepAlive;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a server, for one exchange at a time. It has a thread of its own, which opens
 * it, reads from it, and so detects at once that the server has closed it. Any thread may {@link
 * #take} it while it is idle, and writes its request itself; any thread may {@link #kill} it.
 */
final class HttpConnection {
  /** Marks the end of a connection that was idle. */
  private static final HttpExchange ENDED =
      new HttpExchange(new HttpRequest("", "/", Map.of(), null), Duration.ZERO, null);

  private final InetSocketAddress address;
  private final String authority;
  private final int servers;
  private final Duration limit;
  private final Ticker ticker;

  private final HostResolver resolver;

  private volatile int route;
  private volatile int addresses = 1;

  /** Replaced for each address that is tried. Written by the thread that connects. */
  private volatile Socket socket = unconnected();

  private volatile boolean isKilled;

  private final HttpReader reader = new HttpReader(this::read);

  /** Null while the connection is idle. */
  private final AtomicReference<@Nullable HttpExchange> current = new AtomicReference<>();

  /** Held during a write. */
  private final ReentrantLock writing = new ReentrantLock();

  /** Set before the stream. */
  private boolean isSecured;

  private @Nullable InputStream in;
  private volatile @Nullable OutputStream out;

  /** Used by the reading thread only. */
  private long deadline;

  /** Resolves the addresses of a host. */
  interface HostResolver {
    /** Returns at least one address. Blocks. */
    InetAddress[] addresses(String host) throws UnknownHostException;
  }

  /**
   * A connection that is not open yet.
   *
   * @param route the server's number, plus the number of servers times the count of its host's
   *     addresses that are to be tried later than the others
   * @param servers the number of servers
   * @param limit the time for connecting to any of the addresses; name resolution and the TLS
   *     handshake come on top
   */
  HttpConnection(
      int route, int servers, URI address, Duration limit, Ticker ticker, HostResolver resolver) {
    this.route = route;
    this.servers = servers;
    this.address = HttpTarget.address(address);
    this.authority = address.getRawAuthority();
    this.limit = limit;
    this.ticker = ticker;
    this.resolver = resolver;
  }

  /** Without a proxy, which would see tokens and passwords. */
  private static Socket unconnected() {
    return new Socket(Proxy.NO_PROXY);
  }

  /** The route to its server; before it is connected, the route it was created with. */
  int route() {
    return route;
  }

  /** The number of addresses of its host; 1 until they are known. */
  int addresses() {
    return addresses;
  }

  /**
   * Connects. Blocks. The limit is for the addresses together: name resolution and the handshake of
   * TLS come on top, the latter with the limit for each read.
   *
   * @param tls null without TLS
   */
  void open(@Nullable SSLContext tls) throws IOException {
    String host = address.getHostString();
    Socket plain = connected(resolver.addresses(host));
    plain.setSoTimeout((int) limit.toMillis());
    isSecured = tls != null;
    Socket speaking = tls == null ? plain : secured(tls, plain, host);
    in = speaking.getInputStream();
    out = speaking.getOutputStream();
  }

  /**
   * Tries one address after the other, beginning with that of its route. Each has its share of the
   * remaining limit, so that all are tried within it. If all fail, the first failure is thrown: the
   * second address is often an unreachable one of IPv6.
   */
  private Socket connected(InetAddress[] all) throws IOException {
    addresses = all.length;
    int from = route;
    int first = from / servers;
    long until = ticker.nanos() + limit.toNanos();
    IOException failure = null;
    for (int next = 0; ; next++) {
      Socket trying = socket;
      long share = (until - ticker.nanos()) / (all.length - next);
      int millis = (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(share));
      try {
        InetAddress to = all[(first + next) % all.length];
        SocketKeepAlive.connect(trying, new InetSocketAddress(to, address.getPort()), millis);
        route = from + next * servers;
        return trying;
      } catch (IOException e) {
        trying.close();
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
        // Replace the socket before isKilled is read: a later kill() then closes the new one.
        socket = unconnected();
        if (isKilled || next == all.length - 1) {
          throw failure;
        }
      }
    }
  }

  private SSLSocket secured(SSLContext tls, Socket plain, String host) throws IOException {
    SSLSocket secured =
        (SSLSocket) tls.getSocketFactory().createSocket(plain, host, address.getPort(), true);
    SSLParameters parameters = secured.getSSLParameters();
    // Without this, any certificate of a trusted authority would do, for any host.
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    secured.setSSLParameters(parameters);
    secured.startHandshake();
    return secured;
  }

  /**
   * Begins an exchange, if the connection is idle. Blocks only if the server reads nothing, and for
   * no longer than the exchange may last.
   *
   * @return false if the connection is not idle; nothing was sent then
   */
  boolean take(HttpExchange exchange) {
    exchange.movesTo(this, ticker.nanos());
    OutputStream to = out;
    if (to == null) {
      return false;
    }
    try {
      return write(exchange, to);
    } catch (IOException e) {
      exchange.completeExceptionally(e);
      return true;
    }
  }

  private boolean write(HttpExchange exchange, OutputStream to) throws IOException {
    writing.lock();
    try {
      if (!current.compareAndSet(null, exchange)) {
        return false;
      }
      if (isSecured) {
        exchange.endInTime();
      }
      to.write(exchange.request(authority));
      return true;
    } finally {
      writing.unlock();
    }
  }

  /**
   * Whether the whole request was written, also if the answer came early. Blocks until it was, for
   * the limit at most.
   */
  boolean isWritten() {
    try {
      if (!writing.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS)) {
        return false;
      }
      writing.unlock();
      return true;
    } catch (InterruptedException e) {
      // Called by a callback of the answer: the connection ends, and its thread.
      return false;
    }
  }

  /**
   * Waits for the next exchange. Blocks. Called by the connection's own thread.
   *
   * @param mostIdle the time limit
   * @return null if there will be none: the server has closed the connection, or it was idle for
   *     too long
   */
  @Nullable HttpExchange awaitExchange(Duration mostIdle) {
    long idleUntil = ticker.nanos() + mostIdle.toNanos();
    boolean ended = false;
    while (true) {
      HttpExchange taken = current.get();
      if (taken != null) {
        return taken;
      } else if (ended && current.compareAndSet(null, ENDED)) {
        return null;
      }
      // No longer than an answer may take, or the wait for an answer could be longer.
      deadline = Math.min(idleUntil - ticker.nanos(), limit.toNanos()) + ticker.nanos();
      try {
        // A server has nothing to send while the connection is idle.
        var unused = reader.awaitBytes();
        ended = true;
      } catch (SocketTimeoutException e) {
        ended = ticker.nanos() - idleUntil >= 0;
      } catch (IOException e) {
        ended = true;
      }
    }
  }

  /** Marks the end of the exchange. */
  void becomesIdle() {
    current.set(null);
  }

  /** The reader of this connection, which reads until the given time. */
  HttpReader reader(long until) {
    deadline = until;
    return reader;
  }

  private int read(byte[] buffer) throws IOException {
    InputStream from = in;
    long left = TimeUnit.NANOSECONDS.toMillis(deadline - ticker.nanos());
    if (from == null || left < 0) {
      throw new SocketTimeoutException("no answer in time");
    }
    // With TLS the lower socket waits.
    socket.setSoTimeout((int) Math.min(left + 1, Integer.MAX_VALUE));
    return from.read(buffer);
  }

  /** Ends reads and writes at once, with an exception for the threads in them. */
  void kill() {
    isKilled = true;
    try {
      // The socket below TLS, because the closing message of TLS might block.
      socket.close();
    } catch (IOException e) {
      // The connection is closed either way.
    }
  }
}
