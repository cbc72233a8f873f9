package io.mortise.support.http;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.time.Ticker;
import io.mortise.support.http.HttpConnection.HostResolver;
import io.mortise.support.internal.server.TrustedCertificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to the servers of one system, over {@link HttpConnection}s. Each request has a
 * connection for itself while it lasts, so the number of concurrent requests is limited. Further
 * ones wait for their turn, for as long as for an answer: then they fail, and are never sent. If a
 * server refuses connections, the request goes to the next one. Requests that may have been
 * executed are not retried here.
 *
 * <p><b>Routes.</b> After a failure the next server is used; after the last one the first one
 * again, at the next address of its host. So an address that accepts connections and does not
 * answer costs one request its timeout, and an address that accepts none costs one connection its
 * share.
 *
 * <p><b>Threads.</b> The calling thread writes a request, if a connection is idle; a write into a
 * full socket blocks it for the timeout at most. The thread of the connection reads the answer and
 * runs the dependent callbacks; only then the connection is idle again. So no answer waits for the
 * callbacks of another one.
 *
 * <p>Thread-safe. No callback runs under the lock.
 */
public final class HttpServers implements AutoCloseable {
  /**
   * A firewall may have dropped an older connection silently, and a proxy may be about to close it.
   * A new one costs a round trip.
   */
  private static final Duration MOST_IDLE = Duration.ofSeconds(2);

  private final HttpTarget target;
  private final int mostInFlight;
  private final Duration mostIdle;
  private final String threadName;
  private final Ticker ticker;
  private final HostResolver resolver;
  private final @Nullable SSLContext tls;

  /** All connections, and the idle ones by last use: others end by themselves. */
  private final Set<HttpConnection> open = ConcurrentHashMap.newKeySet();

  private final Deque<HttpConnection> idle = new ConcurrentLinkedDeque<>();

  private final ReentrantLock guard = new ReentrantLock();

  /**
   * Exchanges that wait for their turn; given-up ones stay until they are polled. Guarded by the
   * lock, as is the next field.
   */
  private final Queue<HttpExchange> waiting = new ArrayDeque<>();

  private int inFlight;

  /** The route that worked last (see {@link HttpConnection}). */
  private final AtomicInteger present = new AtomicInteger();

  /** The most addresses that a host had. */
  private final AtomicInteger mostAddresses = new AtomicInteger(1);

  private volatile boolean closed;

  /**
   * A request to any of the servers.
   *
   * @param path the path with its query
   * @param body the body; null if it has none
   * @param maxAnswerBytes the maximum length of the answer's body; of each line if the answer is
   *     read by lines. A longer answer fails the exchange, so no server can fill the heap
   */
  public record HttpRequest(
      String method,
      String path,
      Map<String, String> headers,
      @Nullable String body,
      long maxAnswerBytes) {
    /**
     * The limit of an answer with one document. A store's server accepts no longer document, also
     * counted in the encoding of its answers.
     */
    public static final long MAX_DOCUMENT_BYTES = 4 << 20;

    /** An answer is longer than the request that wrote its document, by some 400 bytes. */
    private static final long ANSWER_OVERHEAD_BYTES = 1024;

    private static final Pattern PATH = Pattern.compile("/[!-~]*");
    private static final Pattern VALUE = Pattern.compile("[ -~]*");

    /**
     * Refuses text that would form another request, or none.
     *
     * @throws IllegalArgumentException if the path or a header has characters that HTTP does not
     *     allow
     */
    public HttpRequest {
      headers = Map.copyOf(headers);
      if (!PATH.matcher(path).matches()
          || !headers.values().stream().allMatch(value -> VALUE.matcher(value).matches())) {
        throw new IllegalArgumentException(
            "A path or a header has characters that HTTP does not take. Use visible ASCII.");
      }
    }

    /** A request that is answered with at most one document. */
    public HttpRequest(
        String method, String path, Map<String, String> headers, @Nullable String body) {
      this(method, path, headers, body, MAX_DOCUMENT_BYTES);
    }

    /** The maximum number of ASCII characters that can be written and still be read again. */
    long maxBody() {
      return maxAnswerBytes - ANSWER_OVERHEAD_BYTES;
    }

    private boolean isTooLong() {
      return body != null && body.length() > maxBody();
    }

    /** The request in the form that is sent. */
    byte[] bytes(String host) {
      byte[] content = body == null ? new byte[0] : body.getBytes(StandardCharsets.UTF_8);
      StringBuilder head = new StringBuilder(256);
      head.append(method).append(' ').append(path).append(" HTTP/1.1\r\nHost: ").append(host);
      headers.forEach((name, value) -> head.append("\r\n").append(name).append(": ").append(value));
      if (body != null) {
        head.append("\r\nContent-Length: ").append(content.length);
      }
      byte[] before = head.append("\r\n\r\n").toString().getBytes(StandardCharsets.US_ASCII);
      byte[] all = Arrays.copyOf(before, before.length + content.length);
      System.arraycopy(content, 0, all, before.length, content.length);
      return all;
    }

    /** The headers may have a secret. */
    @Override
    public String toString() {
      return method + " " + path;
    }
  }

  /**
   * An answer of a server.
   *
   * @param route the route to the answering server, for {@link #moveOn}
   * @param headers the headers by their names in lower case
   * @param body the part after the last line end, if its lines were wanted
   */
  public record HttpResponse(int route, int status, Map<String, String> headers, String body) {
    /**
     * A description of the answer, for messages about an unexpected server: {@code status=404,
     * server='nginx', answer='<html>…'}.
     */
    public String described() {
      return "status=%s, server='%s', answer='%s'"
          .formatted(
              status,
              FailureText.quoted(headers.getOrDefault("server", "")),
              FailureText.quoted(body));
    }
  }

  /**
   * Sends nothing yet.
   *
   * @param mostInFlight the maximum number of concurrent requests
   * @param purpose the name of its threads
   * @throws StoreUnfitException if the trusted certificates cannot be read
   */
  public HttpServers(HttpTarget target, int mostInFlight, String purpose, Ticker ticker) {
    this(target, mostInFlight, purpose, ticker, InetAddress::getAllByName, MOST_IDLE);
  }

  /**
   * An instance with another resolver.
   *
   * @param mostIdle the idle time after which a connection is not used again
   */
  HttpServers(
      HttpTarget target,
      int mostInFlight,
      String purpose,
      Ticker ticker,
      HostResolver resolver,
      Duration mostIdle) {
    this.mostIdle = mostIdle;
    this.resolver = resolver;
    this.target = target;
    this.mostInFlight = mostInFlight;
    this.threadName = "mortise-" + target.product().toLowerCase(Locale.ROOT) + "-" + purpose;
    this.ticker = ticker;
    this.tls = target.isTls() ? trusted(target.ca()) : null;
  }

  private static SSLContext trusted(@Nullable Path ca) {
    try {
      return TrustedCertificates.context(ca);
    } catch (IOException e) {
      throw new StoreUnfitException(
          "Cannot read certificates from '" + ca + "': " + e.getMessage() + ".", e);
    }
  }

  /** The failure of a request whose turn has not come in time. */
  public StoreUnavailableException unsent() {
    return target.unsent();
  }

  /**
   * Sends to the present server, or to the next one that accepts connections, when it is the
   * request's turn. If its turn has not come within the target's timeout, the request is never
   * sent. Nor is a request that is longer than its answer may be: the document that it writes could
   * not be read again.
   */
  public CompletableFuture<HttpResponse> send(HttpRequest request) {
    if (request.isTooLong()) {
      return CompletableFuture.failedFuture(target.tooLong(request));
    }
    HttpExchange exchange = new HttpExchange(request, target.timeout(), null);
    if (takesTurn(exchange)) {
      begin(exchange);
    } else {
      exchange.giveUpUnless(exchange.begun, target.timeout(), this::unsent);
    }
    return exchange;
  }

  /**
   * Sends a request that the limit of concurrent ones does not count. Does not block.
   *
   * @param limit the time until the headers of the answer have come; the body has the same time
   *     again
   * @param lines receives the lines of the answer on one thread; null to read it as a whole
   * @return completes at the end of the answer; cancelling it ends the request
   */
  public CompletableFuture<HttpResponse> stream(
      HttpRequest request, Duration limit, @Nullable Consumer<String> lines) {
    HttpExchange exchange = new HttpExchange(request, limit, lines);
    // Without a body the request fits into the empty buffer of an idle socket. With a body it may
    // not, and the limit is too long for a caller to wait: the thread of a new connection writes
    // it.
    if (request.body() != null || !isTaken(exchange)) {
      var unused = isStarted(exchange);
    }
    return exchange;
  }

  /**
   * Makes a repeatable request. Tries one server after the other, at each address of its host,
   * until one answers; for as long as a timeout for each of them lasts.
   *
   * @param request sends the request, and fails with a {@link StoreUnavailableException} if another
   *     server may succeed
   */
  public <T> CompletionStage<T> askAny(Supplier<? extends CompletionStage<T>> request) {
    return askAny(request, ticker.nanos(), 1);
  }

  private <T> CompletionStage<T> askAny(
      Supplier<? extends CompletionStage<T>> request, long start, int tried) {
    return request
        .get()
        .exceptionallyCompose(
            failure -> {
              int routes = target.servers().size() * mostAddresses.get();
              Duration longest = target.timeout().multipliedBy(routes);
              return CompletionStages.cause(failure) instanceof StoreUnavailableException
                      && tried < routes
                      && ticker.nanos() - start < longest.toNanos()
                  ? askAny(request, start, tried + 1)
                  : CompletableFuture.failedFuture(failure);
            });
  }

  /** Whether it is the exchange's turn now; otherwise it waits for it. */
  private boolean takesTurn(HttpExchange exchange) {
    guard.lock();
    try {
      if (inFlight == mostInFlight) {
        waiting.add(exchange);
        return false;
      }
      inFlight++;
      exchange.hasTurn = true;
      return true;
    } finally {
      guard.unlock();
    }
  }

  /** Passes an exchange's turn on; returns null if it has none, or no exchange waits for it. */
  private @Nullable HttpExchange next(HttpExchange ended) {
    HttpExchange next = null;
    while (ended.hasTurn) {
      guard.lock();
      try {
        next = waiting.poll();
        inFlight -= next == null ? 1 : 0;
      } finally {
        guard.unlock();
      }
      ended.hasTurn = next != null && !next.begins();
    }
    return next;
  }

  /** Sends over an idle connection, or over a new one. */
  private void begin(@Nullable HttpExchange first) {
    HttpExchange exchange = first;
    while (exchange != null && !isTaken(exchange) && !isStarted(exchange)) {
      exchange = next(exchange);
    }
  }

  /** Whether a new connection takes it; else there can be none, and the exchange has failed. */
  private boolean isStarted(HttpExchange exchange) {
    try {
      Thread thread = DaemonThreads.create(threadName, () -> run(exchange));
      thread.setContextClassLoader(null);
      thread.start();
      return true;
    } catch (OutOfMemoryError e) {
      exchange.completeExceptionally(e);
      return false;
    }
  }

  /** Whether an idle connection takes it. */
  private boolean isTaken(HttpExchange exchange) {
    while (true) {
      HttpConnection last = idle.poll();
      if (last == null) {
        return false;
      } else if (last.route() == present.get() && last.take(exchange)) {
        return true;
      }
      last.kill();
    }
  }

  /** The thread of a connection: opens it for an exchange, and reads answers until its end. */
  private void run(HttpExchange first) {
    HttpExchange exchange = first;
    HttpConnection connection = null;
    try {
      connection = connect(first);
      take(connection, first);
      while (exchange.readAnswer(connection) && connection.isWritten()) {
        HttpExchange next = next(exchange);
        connection.becomesIdle();
        if (next != null) {
          exchange = next;
          take(connection, next);
        } else {
          idle.push(connection);
          next = connection.awaitExchange(mostIdle);
          if (next == null) {
            break;
          }
          exchange = next;
        }
      }
    } catch (IOException | RuntimeException | Error e) {
      if (connection != null && !exchange.isCancelled()) {
        moveOn(connection.route());
        endIdle();
      }
      // Now, because dependent callbacks may send again.
      exchange.completeExceptionally(e);
    } finally {
      if (connection != null) {
        end(connection);
      }
      begin(next(exchange));
    }
  }

  /** Writes on the thread of the connection, so that no other thread reads, and ends it in time. */
  private void take(HttpConnection connection, HttpExchange exchange) {
    CompletableFuture<Void> written = new CompletableFuture<>();
    exchange.giveUpUnless(
        written, target.timeout(), () -> new SocketTimeoutException("the request was not read"));
    connection.take(exchange);
    written.complete(null);
  }

  private HttpConnection connect(HttpExchange first) throws IOException {
    CompletableFuture<Void> connected = new CompletableFuture<>();
    // Name resolution has no limit of its own, nor has a handshake.
    Duration longest = target.wholeTimeout().multipliedBy(target.servers().size());
    first.giveUpUnless(connected, longest, () -> target.unconnected(longest));
    for (int tried = 1; ; tried++) {
      int to = present.get();
      int servers = target.servers().size();
      HttpConnection connection =
          new HttpConnection(
              to, servers, target.servers().get(to % servers), target.timeout(), ticker, resolver);
      open.add(connection);
      try {
        first.movesTo(connection, ticker.nanos());
        if (closed) {
          throw new StoreUnavailableException(
              "The store is closed (store=" + target.display() + ").");
        }
        connection.open(tls);
        present.compareAndSet(to, connection.route());
        connected.complete(null);
        return connection;
      } catch (IOException | RuntimeException | Error e) {
        end(connection);
        if (!first.isCancelled()) {
          moveOn(to);
        }
        if (!(e instanceof IOException) || tried == servers || first.isDone()) {
          throw e;
        }
      } finally {
        mostAddresses.accumulateAndGet(connection.addresses(), Math::max);
      }
    }
  }

  /**
   * Ends idle connections: a fault that broke one may have broken all silently, as a firewall that
   * drops them does. The next request opens a new one, and does not wait for a second timeout.
   */
  private void endIdle() {
    for (HttpConnection last = idle.poll(); last != null; last = idle.poll()) {
      last.kill();
    }
  }

  private void end(HttpConnection connection) {
    connection.kill();
    open.remove(connection);
    idle.remove(connection);
  }

  /** Leaves the server of this answer for the next one, which may succeed. */
  public void moveOn(HttpResponse response) {
    moveOn(response.route());
  }

  private void moveOn(int from) {
    present.compareAndSet(from, (from + 1) & Integer.MAX_VALUE);
  }

  /** Converts the failure of an exchange to an exception of a lock. */
  public RuntimeException translated(Throwable failure) {
    return target.translated(failure);
  }

  /** The number of connections. */
  int connections() {
    return open.size();
  }

  /** The number of idle connections. */
  int idleConnections() {
    return idle.size();
  }

  /** Ends all connections, and refuses further requests. Does not block. */
  @Override
  public void close() {
    closed = true;
    open.forEach(HttpConnection::kill);
  }
}
