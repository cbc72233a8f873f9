package io.mortise.consul;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.storekit.TrustedCertificates;
import io.mortise.spi.time.DurationText;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Requests to the HTTP API of agents. Each has a connection of its own while it lasts, so at most
 * 32 are sent at a time: an agent takes 200 connections from one address, unless it is set
 * otherwise. Further requests wait for their turn. A request whose agent cannot be connected to
 * goes to the next one. A request that may have been executed is not sent again: that is its
 * caller's affair. Thread-safe.
 */
final class ConsulGateway implements AutoCloseable {
  private static final int MOST_IN_FLIGHT = 32;

  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final String INDEX = "X-Consul-Index";

  private final ConsulTarget target;
  private final HttpClient client;
  private final ReentrantLock guard = new ReentrantLock();

  /** Those that wait for their turn. Guarded by the lock, as the next. */
  private final Queue<Runnable> waiting = new ArrayDeque<>();

  private int inFlight;

  /** The agent that answered last. */
  private final AtomicInteger agent = new AtomicInteger();

  private volatile boolean closed;

  /**
   * Sends nothing yet.
   *
   * @param purpose what its threads are called by
   */
  ConsulGateway(ConsulTarget target, String purpose) {
    this.target = target;
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            2,
            2,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "mortise-consul-" + purpose);
              thread.setDaemon(true);
              return thread;
            });
    // They end by themselves: the client has no end that could be told to them.
    threads.allowCoreThreadTimeOut(true);
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(Version.HTTP_1_1)
            .connectTimeout(target.timeout())
            .executor(threads);
    if (target.isTls()) {
      builder.sslContext(trusted(target));
    }
    this.client = builder.build();
  }

  private static SSLContext trusted(ConsulTarget target) {
    try {
      return TrustedCertificates.context(target.ca());
    } catch (IOException e) {
      throw new StoreUnfitException(
          "Cannot read certificates from '" + target.ca() + "': " + e.getMessage() + ".", e);
    }
  }

  /** What a request is for, and which answers are its result. */
  private enum RequestKind {
    /**
     * Without its index, the answer to a read is not Consul's: a proxy's "not found" would make a
     * lock look free.
     */
    READ {
      @Override
      boolean isResult(Answer answer) {
        return (answer.status() == OK || answer.status() == NOT_FOUND) && answer.index() > 0;
      }
    },

    TRANSACTION {
      @Override
      boolean isResult(Answer answer) {
        return answer.status() == OK
            || (answer.status() == CONFLICT && !ConsulRefusal.isDenied(answer.body()));
      }
    },

    REPORT {
      @Override
      boolean isResult(Answer answer) {
        return answer.status() == OK;
      }
    };

    abstract boolean isResult(Answer answer);
  }

  /**
   * What Consul has answered.
   *
   * @param index of the entry that was read, or where there is none, of the key-value store
   */
  record Answer(int status, long index, String body) {
    /** Whether a read has found something, or a transaction was made. */
    boolean isPositive() {
      return status == OK;
    }
  }

  /** A request, and for how long its answer may be waited for. */
  private record ConsulRequest(RequestKind kind, String path, String body, Duration limit) {}

  /**
   * Reads.
   *
   * @param path with its query
   * @return completes exceptionally as {@link io.mortise.spi.document.VersionedDocuments} says
   */
  CompletionStage<Answer> read(String path) {
    return inTurn(new ConsulRequest(RequestKind.READ, path, "", target.timeout()));
  }

  /** The same of what Consul tells of itself. */
  CompletionStage<Answer> report(String path) {
    return inTurn(new ConsulRequest(RequestKind.REPORT, path, "", target.timeout()));
  }

  /**
   * Sends a transaction.
   *
   * @param operations JSON
   * @return completes exceptionally as {@link io.mortise.spi.document.VersionedDocuments} says
   */
  CompletionStage<Answer> transact(String operations) {
    return inTurn(
        new ConsulRequest(RequestKind.TRANSACTION, "/v1/txn", operations, target.timeout()));
  }

  /**
   * Reads as soon as something changes; besides those that wait for their turn.
   *
   * @param path with its query
   * @param limit for how long its answer may be waited for
   * @return ends the request if it is cancelled
   */
  CompletableFuture<Answer> awaitChange(String path, Duration limit) {
    int to = agent.get();
    ConsulRequest request = new ConsulRequest(RequestKind.READ, path, "", limit);
    CompletableFuture<HttpResponse<String>> exchange = exchange(to, request);
    CompletableFuture<Answer> answer =
        exchange.thenCompose(response -> result(to, request, response));
    var unused =
        answer.whenComplete(
            (found, failure) -> {
              if (answer.isCancelled()) {
                exchange.cancel(true);
              }
            });
    return answer;
  }

  private CompletionStage<Answer> inTurn(ConsulRequest request) {
    if (closed) {
      return CompletableFuture.failedFuture(
          new StoreUnavailableException("The store is closed (store=" + target + ")."));
    }
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    whenItsTurn(
        () ->
            send(request, 0)
                .whenComplete(
                    (found, failure) -> {
                      next();
                      if (failure == null) {
                        answer.complete(found);
                      } else {
                        answer.completeExceptionally(translated(cause(failure)));
                      }
                    }));
    return answer;
  }

  private void whenItsTurn(Runnable send) {
    guard.lock();
    try {
      if (inFlight == MOST_IN_FLIGHT) {
        waiting.add(send);
        return;
      }
      inFlight++;
    } finally {
      guard.unlock();
    }
    send.run();
  }

  private void next() {
    Runnable send;
    guard.lock();
    try {
      send = waiting.poll();
      inFlight -= send == null ? 1 : 0;
    } finally {
      guard.unlock();
    }
    if (send != null) {
      send.run();
    }
  }

  /**
   * Sends to the present agent, or the next one that can be connected to.
   *
   * @param tried how many could not
   */
  private CompletionStage<Answer> send(ConsulRequest request, int tried) {
    int to = agent.get();
    CompletableFuture<HttpResponse<String>> exchange = exchange(to, request);
    return exchange
        .copy()
        // The request's limit ends with the headers of the answer. The rest has as long again.
        .orTimeout(2 * request.limit().toMillis(), TimeUnit.MILLISECONDS)
        .handle(
            (response, failure) -> {
              if (failure == null) {
                return result(to, request, response);
              }
              exchange.cancel(true);
              moveOn(to);
              Throwable cause = cause(failure);
              boolean unsent =
                  cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException;
              return unsent && tried + 1 < target.agents().size()
                  ? send(request, tried + 1)
                  : CompletableFuture.<Answer>failedFuture(cause);
            })
        .thenCompose(stage -> stage);
  }

  private CompletableFuture<HttpResponse<String>> exchange(int to, ConsulRequest request) {
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(target.agents().get(to).resolve(request.path()))
            .timeout(request.limit());
    String token = target.token();
    if (token != null) {
      builder.header("X-Consul-Token", token);
    }
    if (request.kind() == RequestKind.TRANSACTION) {
      builder.PUT(BodyPublishers.ofString(request.body()));
    }
    return client.sendAsync(builder.build(), BodyHandlers.ofString(StandardCharsets.UTF_8));
  }

  private CompletionStage<Answer> result(
      int from, ConsulRequest request, HttpResponse<String> response) {
    Answer answer =
        new Answer(
            response.statusCode(),
            response.headers().firstValueAsLong(INDEX).orElse(0),
            response.body());
    if (request.kind().isResult(answer)) {
      return CompletableFuture.completedFuture(answer);
    }
    ConsulRefusal refusal = new ConsulRefusal(answer.status(), answer.body());
    if (refusal.isOfAgent()) {
      moveOn(from);
    }
    return CompletableFuture.failedFuture(refusal);
  }

  private void moveOn(int from) {
    agent.compareAndSet(from, (from + 1) % target.agents().size());
  }

  private RuntimeException translated(Throwable failure) {
    if (failure instanceof ConsulRefusal refusal) {
      return refusal.translated(target);
    } else if (failure instanceof HttpTimeoutException || failure instanceof TimeoutException) {
      return new StoreUnavailableException(
          "Consul did not answer within %s (store=%s)."
              .formatted(DurationText.formatExact(target.timeout()), target),
          failure);
    } else if (isTlsMismatch(failure)) {
      return new StoreUnfitException(
          "TLS to Consul fails (store=%s): %s. Check tls, ca, and the host name in the agent's certificate."
              .formatted(target, failure.getMessage()),
          failure);
    } else if (failure instanceof ConnectException) {
      return new StoreUnavailableException(
          "No agent of Consul can be connected to (store=%s).".formatted(target), failure);
    } else if (failure instanceof IOException) {
      return new StoreUnavailableException(
          "The connection to Consul failed (store=%s): %s.".formatted(target, failure.getMessage()),
          failure);
    }
    return failure instanceof RuntimeException known
        ? known
        : new StoreUnavailableException(
            "A request to Consul failed (store=%s): %s.".formatted(target, failure), failure);
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

  private static Throwable cause(@Nullable Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause == null ? new IllegalStateException("no answer and no failure") : cause;
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
