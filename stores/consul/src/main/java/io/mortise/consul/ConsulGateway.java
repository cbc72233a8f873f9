package io.mortise.consul;

import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.time.Ticker;
import io.mortise.support.http.HttpServers;
import io.mortise.support.http.HttpServers.HttpRequest;
import io.mortise.support.http.HttpServers.HttpResponse;
import io.mortise.support.internal.document.WatchedKeys.WatchRequest;
import io.mortise.support.internal.server.ServerIdentity;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Requests to the HTTP API of agents, as {@link HttpServers} sends them. At most 32 are sent at a
 * time: an agent takes 200 connections from one address, unless it is set otherwise. Thread-safe.
 */
final class ConsulGateway implements AutoCloseable {
  private static final int MOST_IN_FLIGHT = 32;

  /** For a million locks with names of 50 bytes. */
  private static final long MAX_LIST_BYTES = 64 << 20;

  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final String INDEX = "x-consul-index";
  private static final Pattern INDEX_FORM = Pattern.compile("\\d{1,18}");

  private final ConsulTarget target;
  private final HttpServers agents;
  private final ServerIdentity cluster;
  private final Ticker ticker;

  /**
   * Sends nothing yet.
   *
   * @param purpose names its threads
   * @param ticker for how long an answer is waited for
   */
  ConsulGateway(ConsulTarget target, String purpose, Ticker ticker) {
    this(target, purpose, ticker, cluster(target));
  }

  /**
   * The same.
   *
   * @param cluster that of all gateways of the store
   */
  ConsulGateway(ConsulTarget target, String purpose, Ticker ticker, ServerIdentity cluster) {
    this.target = target;
    this.ticker = ticker;
    this.cluster = cluster;
    this.agents = new HttpServers(target.http(), MOST_IN_FLIGHT, purpose, ticker);
  }

  /**
   * The cluster of a store. Consul tells its id to nobody without further rights, so indexes alone
   * show another one: those of writes and of missing entries never go back.
   */
  static ServerIdentity cluster(ConsulTarget target) {
    return ServerIdentity.lasting("clusters of Consul", target.toString());
  }

  /** The greatest index that is known of the key-value store. */
  long lastIndex() {
    return cluster.index();
  }

  /**
   * Looks at the index of a write, or of a read that found nothing.
   *
   * @param known {@link #lastIndex} before the request was sent
   * @throws StoreUnfitException if another cluster answers too
   */
  void checkCluster(long index, long known) {
    String conflict = cluster.conflict("a cluster", index, known, ticker.nanos());
    if (conflict != null) {
      throw new StoreUnfitException(conflict);
    }
  }

  /**
   * An answer of Consul.
   *
   * @param index of the entry that was read, or where there is none, of the key-value store
   */
  record ConsulAnswer(int status, long index, String body) {
    /** Whether a read has found something, or a transaction was made. */
    boolean isPositive() {
      return status == OK;
    }

    /**
     * Whether it is the result of a read. Without its index, the answer is not Consul's: a proxy's
     * "not found" would make a lock look free.
     */
    private boolean isOfRead() {
      return (status == OK || status == NOT_FOUND) && index > 0;
    }

    private boolean isOfTransaction() {
      return status == OK || (status == CONFLICT && !ConsulRefusal.isDenied(body));
    }
  }

  /**
   * Reads.
   *
   * @param path with its query
   * @return completes exceptionally as {@link io.mortise.support.document.VersionedDocuments} says
   */
  CompletionStage<ConsulAnswer> read(String path) {
    return call(request(path, null), ConsulAnswer::isOfRead);
  }

  /** The same of a list of keys, which Consul does not divide into pages. */
  CompletionStage<ConsulAnswer> readKeys(String path) {
    return call(
        new HttpRequest("GET", path, headers(), null, MAX_LIST_BYTES), ConsulAnswer::isOfRead);
  }

  /** The same of a report about Consul. */
  CompletionStage<ConsulAnswer> report(String path) {
    return call(request(path, null), ConsulAnswer::isPositive);
  }

  /**
   * Sends a transaction.
   *
   * @param operations JSON
   * @return completes exceptionally as {@link io.mortise.support.document.VersionedDocuments} says
   */
  CompletionStage<ConsulAnswer> transact(String operations) {
    return call(request("/v1/txn", operations), ConsulAnswer::isOfTransaction);
  }

  /** The same for one that may be executed again: of whichever agent answers. */
  CompletionStage<ConsulAnswer> transactAny(String operations) {
    return agents.askAny(() -> transact(operations));
  }

  private CompletionStage<ConsulAnswer> call(
      HttpRequest request, Predicate<ConsulAnswer> isResult) {
    return agents
        .send(request)
        .handle(
            (response, failure) -> {
              if (failure != null) {
                throw agents.translated(CompletionStages.cause(failure));
              }
              return result(response, isResult);
            });
  }

  /**
   * Reads as soon as something changes. Does not count towards the requests in flight.
   *
   * @param path with its query
   * @param limit for how long its answer may be waited for
   * @param request ends with the answer, and ends it
   * @param answered gets the answer
   */
  void awaitChange(
      String path, Duration limit, WatchRequest request, Consumer<ConsulAnswer> answered) {
    request.carriedBy(
        agents.stream(request(path, null), limit, null),
        response -> answered.accept(result(response, ConsulAnswer::isOfRead)));
  }

  private HttpRequest request(String path, @Nullable String body) {
    return new HttpRequest(body == null ? "GET" : "PUT", path, headers(), body);
  }

  private Map<String, String> headers() {
    String token = target.token();
    return token == null ? Map.of() : Map.of("X-Consul-Token", token);
  }

  /**
   * Reads a response.
   *
   * @throws io.mortise.LockException if it is no result
   */
  private ConsulAnswer result(HttpResponse response, Predicate<ConsulAnswer> isResult) {
    String index = response.headers().getOrDefault(INDEX, "");
    ConsulAnswer answer =
        new ConsulAnswer(
            response.status(),
            INDEX_FORM.matcher(index).matches() ? Long.parseLong(index) : 0,
            response.body());
    if (!isResult.test(answer)) {
      ConsulRefusal refusal = new ConsulRefusal(response);
      if (refusal.isOfAgent()) {
        agents.moveOn(response);
      }
      throw refusal.translated(target);
    }
    return answer;
  }

  /** Ends all requests, as {@link HttpServers#close} says. */
  @Override
  public void close() {
    agents.close();
  }
}
