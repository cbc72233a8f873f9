package io.mortise.etcd;

import io.mortise.etcd.JsonReader.JsonObject;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.storekit.HttpServers;
import io.mortise.internal.storekit.HttpServers.RequestForm;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Requests to the JSON gateway of a cluster's members, as {@link HttpServers} sends them.
 *
 * <p>Where the URL has a user, requests bear a token. Etcd forgets tokens after minutes, and when a
 * member starts anew; then a new one is fetched. Thread-safe.
 */
final class EtcdGateway implements AutoCloseable {
  private static final int MOST_IN_FLIGHT = 64;
  private static final int OK = 200;

  private final EtcdTarget target;
  private final HttpServers members;
  private final ReentrantLock guard = new ReentrantLock();

  /** Guarded by the lock. */
  private @Nullable CompletableFuture<String> token;

  /**
   * Sends nothing yet.
   *
   * @param purpose what its threads are called by
   */
  EtcdGateway(EtcdTarget target, String purpose) {
    this.target = target;
    this.members = new HttpServers(target.http(), MOST_IN_FLIGHT, purpose);
  }

  /** What to call the store in messages. */
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
   * @return completes exceptionally as {@link io.mortise.spi.document.VersionedDocuments} says
   */
  CompletionStage<JsonObject> call(String path, String body) {
    return members.inTurn(() -> withToken(path, body, null), this::translated);
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
                send(path, body, with)
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
    Throwable cause = CompletionStages.cause(failure);
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
    send("/v3/auth/authenticate", body, "")
        .whenComplete(
            (found, failure) -> {
              if (failure == null) {
                fetched.complete(found.text("token"));
              } else {
                fetched.completeExceptionally(CompletionStages.cause(failure));
              }
            });
    return fetched;
  }

  private CompletionStage<JsonObject> send(String path, String body, String token) {
    return members.send(path, form(body, token)).thenCompose(this::result);
  }

  private static RequestForm form(String body, String token) {
    return request -> {
      request.POST(BodyPublishers.ofString(body));
      return token.isEmpty() ? request : request.header("Authorization", token);
    };
  }

  private CompletionStage<JsonObject> result(HttpResponse<String> response) {
    if (response.statusCode() == OK) {
      return CompletableFuture.completedFuture(JsonReader.read(response.body()));
    }
    GatewayException refusal = new GatewayException(response.statusCode(), response.body());
    if (refusal.isOfMember()) {
      members.moveOn(response);
    }
    return CompletableFuture.failedFuture(refusal);
  }

  /**
   * Sends a request whose answer does not end.
   *
   * @param lines gets the lines of the answer; its end is that of the stream
   * @return completes when the answer begins, with the status; or exceptionally
   */
  CompletionStage<Integer> stream(String path, String body, Flow.Subscriber<String> lines) {
    return token(null)
        .thenCompose(
            with -> members.stream(path, form(body, with), BodyHandlers.fromLineSubscriber(lines)))
        .handle(
            (response, failure) -> {
              if (failure != null) {
                throw new CompletionException(CompletionStages.cause(failure));
              }
              return response.statusCode();
            });
  }

  private RuntimeException translated(Throwable failure) {
    return failure instanceof GatewayException refusal
        ? refusal.translated(display())
        : members.translated(failure);
  }

  /** Refuses further requests, as {@link HttpServers#close} says. */
  @Override
  public void close() {
    members.close();
  }
}
