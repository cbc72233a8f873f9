package io.mortise.internal.storekit;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.time.DurationText;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Requests to the servers of one system, over the JDK's HTTP client. Each has a connection of its
 * own while it lasts, so there is a bound on those that are sent at a time; further ones wait for
 * their turn, for no longer than for an answer: a request whose turn has not come by then fails,
 * and is never sent. Each request has a thread that waits for its answer. A request whose server
 * cannot be connected to goes to the next one. A request that may have been executed is not sent
 * again: that is its caller's affair.
 *
 * <p>Thread-safe. Nothing is called under the lock. Users require {@code java.net.http}; core alone
 * does not.
 */
@SuppressWarnings("exports") // of types of java.net.http, which users require themselves
public final class HttpServers implements AutoCloseable {
  /** A proxy may answer with pages of HTML. */
  private static final int MOST_SHOWN = 200;

  private final HttpTarget target;
  private final int mostInFlight;
  private final HttpClient client;

  /** A thread for each request in flight. The turns bound their number. */
  private final ExecutorService senders;

  private final ReentrantLock guard = new ReentrantLock();

  /**
   * Those that wait for their turn, and that have given it up. Guarded by the lock, as the next.
   */
  private final Queue<Turn<?>> waiting = new ArrayDeque<>();

  private int inFlight;

  /** The server that answered last. */
  private final AtomicInteger present = new AtomicInteger();

  private volatile boolean closed;

  /**
   * Which servers they are. Holds no secret.
   *
   * @param product what messages call them
   * @param servers with their schemes, {@code http} or {@code https} for all
   * @param timeout for how long an answer is waited for
   * @param ca a file of trusted certificates; null for those of the JVM
   * @param display what to call the store in messages
   */
  public record HttpTarget(
      String product, List<URI> servers, Duration timeout, @Nullable Path ca, String display) {
    /** Copies the list. */
    public HttpTarget {
      servers = List.copyOf(servers);
    }

    /** Whether they speak TLS. */
    public boolean isTls() {
      return servers.get(0).getScheme().equals("https");
    }

    /** For an answer with all of its body. */
    private Duration wholeTimeout() {
      return timeout.multipliedBy(2);
    }

    private String startOfSentence() {
      return product.substring(0, 1).toUpperCase(Locale.ROOT) + product.substring(1);
    }

    /** What a failure of an exchange means for a lock. */
    public RuntimeException translated(Throwable failure) {
      if (failure instanceof HttpTimeoutException || failure instanceof TimeoutException) {
        Duration limit = failure instanceof TimeoutException ? wholeTimeout() : timeout;
        return new StoreUnavailableException(
            "%s did not answer within %s (store=%s). Check that it runs, that this is its port, and that no firewall is between; raise timeout if the network is slow."
                .formatted(startOfSentence(), DurationText.formatExact(limit), display),
            failure);
      } else if (isTlsMismatch(failure)) {
        return new StoreUnfitException(
            "TLS to %s fails (store=%s): %s. Check tls, ca, and the host name in the server's certificate."
                .formatted(product, display, failure.getMessage()),
            failure);
      } else if (failure instanceof ConnectException
          || failure instanceof NoRouteToHostException
          || failure instanceof UnknownHostException) {
        return new StoreUnavailableException(
            "No server of %s can be connected to (store=%s): %s%s. Check host and port, and that the server runs."
                .formatted(
                    product,
                    display,
                    servers.size() > 1 ? "the last one: " : "",
                    whyNotConnected(failure)),
            failure);
      } else if (failure instanceof IOException) {
        return new StoreUnavailableException(
            "The connection to %s failed (store=%s): %s."
                .formatted(product, display, failure.getMessage()),
            failure);
      }
      return failure instanceof RuntimeException known
          ? known
          : new StoreUnavailableException(
              "A request to %s failed (store=%s): %s.".formatted(product, display, failure),
              failure);
    }
  }

  /** Makes a request, before it is sent; perhaps once for each server. */
  public interface RequestForm {
    /** Adds what is besides the address. */
    HttpRequest.Builder complete(HttpRequest.Builder request);
  }

  /**
   * Sends nothing yet.
   *
   * @param mostInFlight how many are sent at a time
   * @param purpose what its threads are called by
   * @throws StoreUnfitException if the trusted certificates cannot be read
   */
  public HttpServers(HttpTarget target, int mostInFlight, String purpose) {
    this.target = target;
    this.mostInFlight = mostInFlight;
    String name = "mortise-" + target.product().toLowerCase(Locale.ROOT) + "-" + purpose;
    // They end by themselves: the client has no end that could be told to them.
    ThreadPoolExecutor threads = threads(name, 2, new LinkedBlockingQueue<>());
    threads.allowCoreThreadTimeOut(true);
    this.senders = threads(name + "-sender", 0, new SynchronousQueue<>());
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(Version.HTTP_1_1)
            .connectTimeout(target.timeout())
            .executor(threads);
    if (target.isTls()) {
      builder.sslContext(trusted(target.ca()));
    }
    this.client = builder.build();
  }

  /**
   * @param core how many there are before tasks wait in the queue
   */
  private static ThreadPoolExecutor threads(String name, int core, BlockingQueue<Runnable> queue) {
    return new ThreadPoolExecutor(
        core,
        // As many as there are turns, and few more.
        Integer.MAX_VALUE,
        1,
        TimeUnit.SECONDS,
        queue,
        task -> {
          Thread thread = new Thread(task, name);
          thread.setDaemon(true);
          return thread;
        });
  }

  private static SSLContext trusted(@Nullable Path ca) {
    try {
      return TrustedCertificates.context(ca);
    } catch (IOException e) {
      throw new StoreUnfitException(
          "Cannot read certificates from '" + ca + "': " + e.getMessage() + ".", e);
    }
  }

  /**
   * Begins a request when it has its turn, which ends with its stage. If it has not come within the
   * target's timeout, the request is never begun.
   *
   * @param request several exchanges perhaps, one after the other; an exception is a failed stage
   * @param translated makes the failure that callers see of that of the request
   */
  public <T> CompletionStage<T> inTurn(
      Supplier<CompletionStage<T>> request, Function<Throwable, RuntimeException> translated) {
    if (closed) {
      return CompletableFuture.failedFuture(
          new StoreUnavailableException("The store is closed (store=" + target.display() + ")."));
    }
    Turn<T> turn = new Turn<>(request, translated);
    if (takesTurn(turn)) {
      begin(turn);
    } else {
      turn.giveUpInTime();
    }
    return turn.answer;
  }

  /** Whether it has its turn now; else it waits for it. */
  private boolean takesTurn(Turn<?> turn) {
    guard.lock();
    try {
      if (inFlight == mostInFlight) {
        waiting.add(turn);
        return false;
      }
      inFlight++;
      return true;
    } finally {
      guard.unlock();
    }
  }

  /** Ends a turn, and takes the next one that was not given up; null if there is none. */
  private @Nullable Turn<?> next() {
    Turn<?> turn;
    do {
      guard.lock();
      try {
        turn = waiting.poll();
        inFlight -= turn == null ? 1 : 0;
      } finally {
        guard.unlock();
      }
    } while (turn != null && !turn.comes());
    return turn;
  }

  /** Begins a request, and further ones as long as they end at once: in a loop, not nested. */
  private void begin(@Nullable Turn<?> first) {
    Turn<?> turn = first;
    while (turn != null) {
      turn = turn.endsAtOnce() ? next() : null;
    }
  }

  /** A request that waits for its turn, or has it. */
  private final class Turn<T> {
    private final Supplier<CompletionStage<T>> request;
    private final Function<Throwable, RuntimeException> translated;
    private final CompletableFuture<T> answer = new CompletableFuture<>();

    /** Whichever is first: the turn has come, or was given up. */
    private final CompletableFuture<Void> awaited = new CompletableFuture<>();

    Turn(Supplier<CompletionStage<T>> request, Function<Throwable, RuntimeException> translated) {
      this.request = request;
      this.translated = translated;
    }

    void giveUpInTime() {
      var unused =
          awaited
              .orTimeout(target.timeout().toMillis(), TimeUnit.MILLISECONDS)
              .whenComplete(
                  (come, late) -> {
                    if (late != null) {
                      answer.completeExceptionally(unsent());
                    }
                  });
    }

    /** The turn comes; false if it was given up before. */
    boolean comes() {
      return awaited.complete(null);
    }

    /** Begins the request; returns whether it has ended, else begins the next one after it. */
    boolean endsAtOnce() {
      CompletableFuture<T> begun = CompletionStages.start(request::get).toCompletableFuture();
      boolean ended = begun.isDone();
      var unused =
          begun.whenComplete(
              (found, failure) -> {
                if (!ended) {
                  begin(next());
                }
                if (failure == null) {
                  answer.complete(found);
                } else {
                  answer.completeExceptionally(translated.apply(CompletionStages.cause(failure)));
                }
              });
      return ended;
    }
  }

  /** The failure of a request whose turn has not come in time. */
  public StoreUnavailableException unsent() {
    return new StoreUnavailableException(
        "A request to %s was not sent within %s, because earlier ones were in flight (store=%s)."
            .formatted(
                target.product(), DurationText.formatExact(target.timeout()), target.display()));
  }

  /** Sends to the present server, or the next one that can be connected to. */
  public CompletionStage<HttpResponse<String>> send(String path, RequestForm form) {
    return send(path, form, 0);
  }

  private CompletionStage<HttpResponse<String>> send(String path, RequestForm form, int tried) {
    int to = present.get();
    CompletableFuture<HttpResponse<String>> exchange =
        exchange(to, path, request -> form.complete(request).timeout(target.timeout()));
    return exchange
        .copy()
        // The request's limit ends with the headers of the answer. The rest has as long again.
        .orTimeout(target.wholeTimeout().toMillis(), TimeUnit.MILLISECONDS)
        .handle(
            (response, failure) -> {
              if (failure == null) {
                return CompletableFuture.<HttpResponse<String>>completedFuture(response);
              }
              exchange.cancel(true);
              moveOn(to);
              Throwable cause = CompletionStages.cause(failure);
              boolean unsent =
                  cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException;
              return unsent && tried + 1 < target.servers().size()
                  ? send(path, form, tried + 1)
                  : CompletableFuture.<HttpResponse<String>>failedFuture(cause);
            })
        .thenCompose(stage -> stage);
  }

  /**
   * A request in a thread that waits for its answer. The client's asynchronous form hands each
   * answer to the default executor of futures, which on one or two processors starts a thread for
   * it.
   *
   * @return cancelling it ends the request
   */
  private CompletableFuture<HttpResponse<String>> exchange(int to, String path, RequestForm form) {
    CompletableFuture<HttpResponse<String>> exchange = new CompletableFuture<>();
    Future<?> sender =
        senders.submit(
            () -> {
              try {
                exchange.complete(
                    client.send(
                        request(to, path, form), BodyHandlers.ofString(StandardCharsets.UTF_8)));
              } catch (RuntimeException e) {
                exchange.completeExceptionally(refused(e));
              } catch (IOException | InterruptedException | Error e) {
                exchange.completeExceptionally(e);
              }
            });
    var unused =
        exchange.whenComplete(
            (response, failure) -> {
              if (exchange.isCancelled()) {
                sender.cancel(true);
              }
            });
    return exchange;
  }

  private HttpRequest request(int to, String path, RequestForm form) {
    URI address = target.servers().get(to).resolve(path);
    return form.complete(HttpRequest.newBuilder(address)).build();
  }

  /** An exception of the client, which refuses an address, is a connection that was not made. */
  private static ConnectException refused(RuntimeException e) {
    ConnectException refused = new ConnectException(e.getMessage());
    refused.initCause(e);
    return refused;
  }

  /**
   * Sends a request that takes as long as it takes, to the present server alone and besides those
   * that have their turn. The request's form may set a limit.
   *
   * @return cancelling it ends the request
   */
  public <T> CompletableFuture<HttpResponse<T>> stream(
      String path, RequestForm form, BodyHandler<T> body) {
    int to = present.get();
    CompletableFuture<HttpResponse<T>> exchange;
    try {
      exchange = client.sendAsync(request(to, path, form), body);
    } catch (RuntimeException e) {
      exchange = CompletableFuture.failedFuture(refused(e));
    }
    return movesOn(to, exchange);
  }

  private <T> CompletableFuture<HttpResponse<T>> movesOn(
      int to, CompletableFuture<HttpResponse<T>> exchange) {
    var unused =
        exchange.whenComplete(
            (response, failure) -> {
              if (failure != null && !exchange.isCancelled()) {
                moveOn(to);
              }
            });
    return exchange;
  }

  /** Leaves the server that has answered so: another may do what it cannot, now. */
  public void moveOn(HttpResponse<?> answer) {
    for (int i = 0; i < target.servers().size(); i++) {
      if (target.servers().get(i).getAuthority().equals(answer.uri().getAuthority())) {
        moveOn(i);
        return;
      }
    }
  }

  private void moveOn(int from) {
    present.compareAndSet(from, (from + 1) % target.servers().size());
  }

  /** What a failure of an exchange means for a lock. */
  public RuntimeException translated(Throwable failure) {
    return target.translated(failure);
  }

  /** What a server said, as messages quote it: the beginning if that is long. */
  public static String quoted(String said) {
    String whole = said.strip();
    return whole.length() <= MOST_SHOWN ? whole : whole.substring(0, MOST_SHOWN) + "…";
  }

  /** The client's exceptions often have no text of their own, nor have those that they wrap. */
  private static String whyNotConnected(Throwable failure) {
    String said = null;
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof UnresolvedAddressException || at instanceof UnknownHostException) {
        return "unknown host";
      }
      said = said == null && !(at instanceof ClosedChannelException) ? at.getMessage() : said;
    }
    return said == null || said.equals("Connection refused") ? "connection refused" : said;
  }

  /** Whether the two sides do not agree, and not only the connection broke. */
  private static boolean isTlsMismatch(Throwable failure) {
    boolean inTls = false;
    Throwable deepest = failure;
    for (Throwable at = failure; at != null; at = at.getCause()) {
      inTls |= at instanceof SSLException;
      deepest = at;
    }
    return inTls && !(deepest instanceof EOFException || deepest instanceof SocketException);
  }

  /**
   * Refuses further requests. Connections are closed when the client is collected: in Java 17 it
   * cannot be told.
   */
  @Override
  public void close() {
    closed = true;
  }
}
