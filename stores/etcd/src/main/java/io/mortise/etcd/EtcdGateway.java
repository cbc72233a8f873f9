package io.mortise.etcd;

import io.mortise.StoreUnfitException;
import io.mortise.etcd.JsonReader.JsonObject;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.time.Ticker;
import io.mortise.support.http.HttpServers;
import io.mortise.support.http.HttpServers.HttpRequest;
import io.mortise.support.http.HttpServers.HttpResponse;
import io.mortise.support.internal.document.WatchedKeys.WatchRequest;
import io.mortise.support.internal.server.ServerIdentity;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Requests to the JSON gateway of a cluster's members, as {@link HttpServers} sends them.
 *
 * <p>Where the URL has a user, requests bear a token. Etcd forgets tokens after minutes, when a
 * member restarts, or when any user or role is changed; then a new one is fetched, and for the next
 * watch after one that etcd has ended. Thread-safe.
 */
final class EtcdGateway implements AutoCloseable {
  private static final int MOST_IN_FLIGHT = 64;
  private static final int MOST_DOCUMENTS = 16;
  private static final int OK = 200;
  private static final String KEYS = "/v3/kv/";
  private static final Duration ENDLESS = Duration.ofDays(365);

  private final EtcdTarget target;
  private final HttpServers members;
  private final ServerIdentity cluster;
  private final Ticker ticker;
  private final ReentrantLock guard = new ReentrantLock();

  /** Guarded by the lock. */
  private @Nullable CompletableFuture<String> token;

  /**
   * Sends nothing yet.
   *
   * @param purpose names its threads
   * @param ticker for how long an answer is waited for
   */
  EtcdGateway(EtcdTarget target, String purpose, Ticker ticker) {
    this(target, purpose, ticker, cluster(target));
  }

  /**
   * The same.
   *
   * @param cluster that of all gateways of the store
   */
  EtcdGateway(EtcdTarget target, String purpose, Ticker ticker, ServerIdentity cluster) {
    this.target = target;
    this.ticker = ticker;
    this.cluster = cluster;
    this.members = new HttpServers(target.http(), MOST_IN_FLIGHT, purpose, ticker);
  }

  /** The cluster of a store, whose members have one id. */
  static ServerIdentity cluster(EtcdTarget target) {
    return ServerIdentity.lasting("clusters of etcd", target.toString());
  }

  /** The name of the store in messages. */
  String display() {
    return target.http().display();
  }

  /** For how long a request waits for its turn, and then for its answer. */
  Duration timeout() {
    return target.http().timeout();
  }

  /** See {@link HttpServers#unsent}. */
  RuntimeException unsent() {
    return members.unsent();
  }

  /**
   * Sends a request, and reads its answer.
   *
   * @param path as {@code /v3/kv/range}
   * @param body JSON
   * @return completes exceptionally as {@link io.mortise.support.document.VersionedDocuments} says
   */
  CompletionStage<JsonObject> call(String path, String body) {
    return call(path, body, 1);
  }

  /**
   * The same.
   *
   * @param documents how many the answer may have. A document fits into its share: etcd accepts
   *     requests of 1.5 MiB by default, and answers in Base64. More than 16 large ones do not fit
   */
  CompletionStage<JsonObject> call(String path, String body, int documents) {
    long most = HttpRequest.MAX_DOCUMENT_BYTES * Math.min(documents, MOST_DOCUMENTS);
    Function<String, HttpRequest> request = with -> post(path, body, with, most);
    return token(null)
        .thenCompose(
            with ->
                send(request.apply(with))
                    .exceptionallyCompose(failure -> retry(request, with, failure)))
        .exceptionally(
            failure -> {
              throw translated(CompletionStages.cause(failure));
            });
  }

  /** The same for a request that may be executed again: of whichever member answers. */
  CompletionStage<JsonObject> callAny(String path, String body) {
    return members.askAny(() -> call(path, body));
  }

  /** Once more with a new token, if it was refused that one. */
  private CompletionStage<JsonObject> retry(
      Function<String, HttpRequest> request, String refused, Throwable failure) {
    return !refused.isEmpty()
            && CompletionStages.cause(failure) instanceof EtcdRefusal error
            && error.wantsToken()
        ? token(refused).thenCompose(with -> send(request.apply(with)))
        : CompletableFuture.failedFuture(failure);
  }

  /** The next request fetches another token than that. */
  private void forget(String refused) {
    guard.lock();
    try {
      CompletableFuture<String> present = token;
      if (present != null
          && !present.isCompletedExceptionally()
          && refused.equals(present.getNow(null))) {
        token = null;
      }
    } finally {
      guard.unlock();
    }
  }

  /**
   * The token that requests bear; empty if there is no user.
   *
   * @param refused the token that was refused; null at first
   */
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
    CompletionStages.copy(
        send(post("/v3/auth/authenticate", body, "", HttpRequest.MAX_DOCUMENT_BYTES))
            .thenApply(found -> found.text("token")),
        fetched);
    return fetched;
  }

  private CompletionStage<JsonObject> send(HttpRequest request) {
    return send(request, target.http().servers().size());
  }

  /**
   * The same.
   *
   * @param most how many members are asked: a learner has not executed what it refuses
   */
  private CompletionStage<JsonObject> send(HttpRequest request, int most) {
    long known = cluster.index();
    return members
        .send(request)
        .thenCompose(response -> result(request, response, known))
        .exceptionallyCompose(
            failure ->
                most > 1
                        && CompletionStages.cause(failure) instanceof EtcdRefusal refusal
                        && refusal.isOfLearner()
                    ? send(request, most - 1)
                    : CompletableFuture.failedFuture(failure));
  }

  private static HttpRequest post(String path, String body, String token, long maxAnswerBytes) {
    Map<String, String> headers = token.isEmpty() ? Map.of() : Map.of("Authorization", token);
    return new HttpRequest("POST", path, headers, body, maxAnswerBytes);
  }

  /**
   * Reads a response.
   *
   * @param known the revision that was known before the request was sent
   */
  private CompletionStage<JsonObject> result(
      HttpRequest request, HttpResponse response, long known) {
    if (response.status() == OK) {
      try {
        JsonObject answer = JsonReader.read(response.body());
        JsonObject header = answer.object("header");
        String id = header.text("cluster_id");
        // Other answers tell the revision of a member, which may be behind.
        String conflict =
            id.isEmpty() || !request.path().startsWith(KEYS)
                ? null
                : cluster.conflict(id, header.number("revision"), known, ticker.nanos());
        if (conflict != null) {
          members.moveOn(response);
          return CompletableFuture.failedFuture(new StoreUnfitException(conflict));
        }
        return CompletableFuture.completedFuture(answer);
      } catch (IllegalArgumentException e) {
        return CompletableFuture.failedFuture(new EtcdRefusal(response));
      }
    }
    EtcdRefusal refusal = new EtcdRefusal(response);
    if (refusal.isOfMember()) {
      members.moveOn(response);
    }
    return CompletableFuture.failedFuture(refusal);
  }

  /**
   * Sends a request whose answer does not end. Does not count towards the requests in flight.
   *
   * @param request ends with the answer, and ends it
   * @param lines gets the lines of the answer, by one thread; false ends it
   */
  void stream(String path, String body, WatchRequest request, Predicate<String> lines) {
    var unused =
        token(null)
            .thenAccept(
                with ->
                    request.carriedBy(
                        members.stream(
                            post(path, body, with, HttpRequest.MAX_DOCUMENT_BYTES),
                            ENDLESS,
                            line -> {
                              if (!lines.test(line)) {
                                forget(with);
                                request.end();
                              }
                            }),
                        answer -> forget(with)))
            .whenComplete(
                (none, failure) -> {
                  if (failure != null) {
                    request.end();
                  }
                });
  }

  private RuntimeException translated(Throwable failure) {
    return failure instanceof EtcdRefusal refusal
        ? refusal.translated(display())
        : members.translated(failure);
  }

  /** Ends all requests, as {@link HttpServers#close} says. */
  @Override
  public void close() {
    members.close();
  }
}
