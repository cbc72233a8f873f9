package io.mortise.etcd;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.etcd.JsonReader.JsonObject;
import io.mortise.internal.storekit.TrustedCertificates;
import io.mortise.spi.time.DurationText;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
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
 * Requests to the JSON gateway of a cluster's members. Each has a connection of its own while it
 * lasts, so at most 64 are sent at a time; further ones wait for their turn. A request whose member
 * cannot be connected to goes to the next one. A request that may have been executed is not sent
 * again: that is its caller's affair.
 *
 * <p>Where the URL has a user, requests bear a token. Etcd forgets tokens after minutes, and when a
 * member starts anew; then a new one is fetched. Thread-safe.
 */
final class EtcdGateway implements AutoCloseable {
  private static final int MOST_IN_FLIGHT = 64;
  private static final int OK = 200;

  private final EtcdTarget target;
  private final HttpClient client;
  private final ReentrantLock guard = new ReentrantLock();

  /** Those that wait for their turn. Guarded by the lock, as what follows. */
  private final Queue<Runnable> waiting = new ArrayDeque<>();

  private int inFlight;
  private @Nullable CompletableFuture<String> token;

  /** The member that answered last. */
  private final AtomicInteger member = new AtomicInteger();

  private volatile boolean closed;

  /**
   * Sends nothing yet.
   *
   * @param purpose what its threads are called by
   */
  EtcdGateway(EtcdTarget target, String purpose) {
    this.target = target;
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            2,
            2,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "mortise-etcd-" + purpose);
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

  private static SSLContext trusted(EtcdTarget target) {
    try {
      return TrustedCertificates.context(target.ca());
    } catch (IOException e) {
      throw new StoreUnfitException(
          "Cannot read certificates from '" + target.ca() + "': " + e.getMessage() + ".", e);
    }
  }

  /** What to call the store in messages. */
  String display() {
    return target.display();
  }

  /**
   * Sends a request, and reads its answer.
   *
   * @param path as {@code /v3/kv/range}
   * @param body JSON
   * @return completes exceptionally as {@link io.mortise.spi.document.VersionedDocuments} says
   */
  CompletionStage<JsonObject> call(String path, String body) {
    if (closed) {
      return CompletableFuture.failedFuture(
          new StoreUnavailableException("The store is closed (store=" + display() + ")."));
    }
    CompletableFuture<JsonObject> answer = new CompletableFuture<>();
    whenItsTurn(
        () ->
            withToken(path, body, null)
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
   * Sends with a token, if there is a user; once more with a new one if that is refused.
   *
   * @param refused the token that was refused; null at first
   */
  private CompletionStage<JsonObject> withToken(
      String path, String body, @Nullable String refused) {
    return token(refused)
        .thenCompose(
            with ->
                send(path, body, with, 0)
                    .handle((found, failure) -> retried(path, body, with, refused, found, failure))
                    .thenCompose(stage -> stage));
  }

  private CompletionStage<JsonObject> retried(
      String path,
      String body,
      String with,
      @Nullable String refused,
      @Nullable JsonObject found,
      @Nullable Throwable failure) {
    if (found != null) {
      return CompletableFuture.completedFuture(found);
    }
    Throwable cause = cause(failure);
    boolean again =
        refused == null
            && !with.isEmpty()
            && cause instanceof GatewayException error
            && error.wantsToken();
    return again ? withToken(path, body, with) : CompletableFuture.failedFuture(cause);
  }

  /** The token that requests bear; empty if there is no user. */
  CompletionStage<String> token(@Nullable String refused) {
    String user = target.user();
    String password = target.password();
    if (user == null || password == null) {
      return CompletableFuture.completedFuture("");
    }
    CompletableFuture<String> fetched;
    guard.lock();
    try {
      CompletableFuture<String> present = token;
      boolean usable =
          present != null
              && !present.isCompletedExceptionally()
              && !(refused != null && refused.equals(present.getNow(null)));
      if (present != null && usable) {
        return present;
      }
      fetched = new CompletableFuture<>();
      token = fetched;
    } finally {
      guard.unlock();
    }
    String body =
        "{\"name\":" + JsonText.quoted(user) + ",\"password\":" + JsonText.quoted(password) + "}";
    send("/v3/auth/authenticate", body, "", 0)
        .whenComplete(
            (found, failure) -> {
              if (failure == null) {
                fetched.complete(found.text("token"));
              } else {
                fetched.completeExceptionally(cause(failure));
              }
            });
    return fetched;
  }

  /**
   * Sends to the present member, or the next one that can be connected to.
   *
   * @param tried how many could not
   */
  private CompletionStage<JsonObject> send(String path, String body, String token, int tried) {
    int to = member.get();
    HttpRequest request = request(to, path, body, token).timeout(target.timeout()).build();
    CompletableFuture<HttpResponse<String>> exchange =
        client.sendAsync(request, BodyHandlers.ofString());
    return exchange
        .copy()
        // The request's limit ends with the headers of the answer. The rest has as long again.
        .orTimeout(2 * target.timeout().toMillis(), TimeUnit.MILLISECONDS)
        .handle(
            (response, failure) -> {
              if (failure == null) {
                return result(to, response);
              }
              exchange.cancel(true);
              moveOn(to);
              Throwable cause = cause(failure);
              boolean unsent =
                  cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException;
              return unsent && tried + 1 < target.members().size()
                  ? send(path, body, token, tried + 1)
                  : CompletableFuture.<JsonObject>failedFuture(cause);
            })
        .thenCompose(stage -> stage);
  }

  private HttpRequest.Builder request(int to, String path, String body, String token) {
    URI base = target.members().get(to);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(base.resolve(path)).POST(BodyPublishers.ofString(body));
    return token.isEmpty() ? request : request.header("Authorization", token);
  }

  private CompletionStage<JsonObject> result(int from, HttpResponse<String> response) {
    if (response.statusCode() == OK) {
      return CompletableFuture.completedFuture(JsonReader.read(response.body()));
    }
    GatewayException refusal = new GatewayException(response.statusCode(), response.body());
    if (refusal.isOfMember()) {
      moveOn(from);
    }
    return CompletableFuture.failedFuture(refusal);
  }

  private void moveOn(int from) {
    member.compareAndSet(from, (from + 1) % target.members().size());
  }

  /**
   * Sends a request whose answer does not end.
   *
   * @param lines gets the lines of the answer; its end is that of the stream
   * @return completes when the answer begins, with the status; or exceptionally
   */
  CompletionStage<Integer> stream(String path, String body, Flow.Subscriber<String> lines) {
    int to = member.get();
    return token(null)
        .thenCompose(
            with ->
                client.sendAsync(
                    request(to, path, body, with).build(), BodyHandlers.fromLineSubscriber(lines)))
        .handle(
            (response, failure) -> {
              if (failure != null) {
                moveOn(to);
                throw new CompletionException(cause(failure));
              }
              return response.statusCode();
            });
  }

  private RuntimeException translated(Throwable failure) {
    if (failure instanceof GatewayException refusal) {
      return refusal.translated(display());
    } else if (failure instanceof HttpTimeoutException || failure instanceof TimeoutException) {
      return new StoreUnavailableException(
          "Etcd did not answer within %s (store=%s)."
              .formatted(DurationText.formatExact(target.timeout()), display()),
          failure);
    } else if (isTlsMismatch(failure)) {
      return new StoreUnfitException(
          "TLS to etcd fails (store=%s): %s. Check tls, ca, and the host name in the server's certificate."
              .formatted(display(), failure.getMessage()),
          failure);
    } else if (failure instanceof ConnectException) {
      return new StoreUnavailableException(
          "No member of etcd can be connected to (store=%s).".formatted(display()), failure);
    } else if (failure instanceof IOException) {
      return new StoreUnavailableException(
          "The connection to etcd failed (store=%s): %s."
              .formatted(display(), failure.getMessage()),
          failure);
    }
    return failure instanceof RuntimeException known
        ? known
        : new StoreUnavailableException(
            "A request to etcd failed (store=%s): %s.".formatted(display(), failure), failure);
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
