package io.mortise.consul;

import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.storekit.HttpServers;
import io.mortise.internal.storekit.HttpServers.HttpRequest;
import io.mortise.internal.storekit.HttpServers.HttpResponse;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Requests to the HTTP API of agents, as {@link HttpServers} sends them. At most 32 are sent at a
 * time: an agent takes 200 connections from one address, unless it is set otherwise. Thread-safe.
 */
final class ConsulGateway implements AutoCloseable {
  private static final int MOST_IN_FLIGHT = 32;

  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final String INDEX = "x-consul-index";
  private static final Pattern INDEX_FORM = Pattern.compile("\\d{1,18}");

  private final ConsulTarget target;
  private final HttpServers agents;

  /**
   * Sends nothing yet.
   *
   * @param purpose what its threads are called by
   * @param ticker for how long an answer is waited for
   */
  ConsulGateway(ConsulTarget target, String purpose, Ticker ticker) {
    this.target = target;
    this.agents = new HttpServers(target.http(), MOST_IN_FLIGHT, purpose, ticker);
  }

  /** What a request is for, and which answers are its result. */
  private enum RequestPurpose {
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

  /**
   * Reads.
   *
   * @param path with its query
   * @return completes exceptionally as {@link io.mortise.spi.document.VersionedDocuments} says
   */
  CompletionStage<Answer> read(String path) {
    return call(RequestPurpose.READ, path, null);
  }

  /** The same of what Consul tells of itself. */
  CompletionStage<Answer> report(String path) {
    return call(RequestPurpose.REPORT, path, null);
  }

  /**
   * Sends a transaction.
   *
   * @param operations JSON
   * @return completes exceptionally as {@link io.mortise.spi.document.VersionedDocuments} says
   */
  CompletionStage<Answer> transact(String operations) {
    return call(RequestPurpose.TRANSACTION, "/v1/txn", operations);
  }

  private CompletionStage<Answer> call(RequestPurpose purpose, String path, @Nullable String body) {
    return agents
        .send(request(path, body))
        .thenCompose(response -> result(purpose, response))
        .exceptionallyCompose(
            failure -> CompletableFuture.failedFuture(translated(CompletionStages.cause(failure))));
  }

  /**
   * Reads as soon as something changes; besides those that wait for their turn. The caller
   * publishes the future before anything is sent.
   *
   * @param path with its query
   * @param limit for how long its answer may be waited for
   * @param change completes with the answer; ends the request if it is cancelled
   */
  void awaitChange(String path, Duration limit, CompletableFuture<Answer> change) {
    CompletableFuture<HttpResponse> exchange = agents.stream(request(path, null), limit, null);
    var unused = change.whenComplete((found, failure) -> exchange.cancel(true));
    CompletionStages.copy(
        exchange.thenCompose(response -> result(RequestPurpose.READ, response)), change);
  }

  private HttpRequest request(String path, @Nullable String body) {
    String token = target.token();
    return new HttpRequest(
        body == null ? "GET" : "PUT",
        path,
        token == null ? Map.of() : Map.of("X-Consul-Token", token),
        body);
  }

  private CompletionStage<Answer> result(RequestPurpose purpose, HttpResponse response) {
    String index = response.headers().getOrDefault(INDEX, "");
    Answer answer =
        new Answer(
            response.status(),
            INDEX_FORM.matcher(index).matches() ? Long.parseLong(index) : 0,
            response.body());
    if (purpose.isResult(answer)) {
      return CompletableFuture.completedFuture(answer);
    }
    ConsulRefusal refusal = new ConsulRefusal(answer.status(), answer.body());
    if (refusal.isOfAgent()) {
      agents.moveOn(response);
    }
    return CompletableFuture.failedFuture(refusal);
  }

  private RuntimeException translated(Throwable failure) {
    return failure instanceof ConsulRefusal refusal
        ? refusal.translated(target)
        : agents.translated(failure);
  }

  /** Ends all requests, as {@link HttpServers#close} says. */
  @Override
  public void close() {
    agents.close();
  }
}
