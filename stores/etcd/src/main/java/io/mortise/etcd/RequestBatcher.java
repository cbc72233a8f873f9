package io.mortise.etcd;

import io.mortise.etcd.JsonReader.JsonObject;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.time.Ticker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Sends reads and transactions. While two requests are in flight, further ones are gathered: they
 * leave as one transaction, whose operations they are. Each nested transaction has its own
 * conditions, and fails alone. Etcd writes one entry of its log for all.
 *
 * <p>Etcd refuses a transaction that writes a key twice, so the second writer of a key leaves with
 * a later one. If etcd refuses a batch for its form, nothing of it was executed: each request is
 * sent alone.
 *
 * <p>A request that has waited for longer than for an answer fails, and is never sent. That is
 * found out as another request comes or ends.
 *
 * <p>Thread-safe. Nothing is called under the lock.
 */
final class RequestBatcher {
  private static final int MOST_IN_FLIGHT = 2;

  /** Etcd allows 128 operations, less those of a nested transaction. */
  private static final int MOST_TOGETHER = 64;

  /** Etcd takes requests of up to 1.5 MB, unless it is set otherwise. */
  private static final int MOST_CHARACTERS = 500_000;

  private final EtcdGateway gateway;
  private final Ticker ticker;
  private final ReentrantLock guard = new ReentrantLock();

  // Guarded by the lock.
  private final Deque<EtcdRequest> waiting = new ArrayDeque<>();
  private int inFlight;

  /** A kind of request, and how it is written alone and within a transaction. */
  enum RequestKind {
    RANGE("/v3/kv/range", "requestRange", "response_range"),
    TRANSACTION("/v3/kv/txn", "requestTxn", "response_txn");

    private final String path;
    private final String operation;
    private final String response;

    RequestKind(String path, String operation, String response) {
      this.path = path;
      this.operation = operation;
      this.response = response;
    }
  }

  /**
   * An answer of etcd.
   *
   * @param revision that of the store right after the request; that of each key that it wrote
   */
  record EtcdAnswer(JsonObject body, long revision) {}

  private record EtcdRequest(
      RequestKind kind,
      String body,
      Set<String> writes,
      long since,
      CompletableFuture<EtcdAnswer> answer) {
    String operation() {
      return "{\"" + kind.operation + "\":" + body + "}";
    }
  }

  RequestBatcher(EtcdGateway gateway, Ticker ticker) {
    this.gateway = gateway;
    this.ticker = ticker;
  }

  /**
   * Sends a request, perhaps together with others.
   *
   * @param body JSON
   * @param writes the keys that it may write
   * @return completes exceptionally as {@link EtcdGateway#call} says
   */
  CompletionStage<EtcdAnswer> send(RequestKind kind, String body, Set<String> writes) {
    EtcdRequest request =
        new EtcdRequest(kind, body, writes, ticker.nanos(), new CompletableFuture<>());
    guard.lock();
    try {
      waiting.add(request);
    } finally {
      guard.unlock();
    }
    sendNext(0);
    return request.answer();
  }

  /**
   * Sends what may leave now.
   *
   * @param ended how many of those in flight have ended
   */
  private void sendNext(int ended) {
    List<EtcdRequest> late;
    List<EtcdRequest> batch = List.of();
    guard.lock();
    try {
      inFlight -= ended;
      late = takeLate();
      if (inFlight < MOST_IN_FLIGHT && !waiting.isEmpty()) {
        inFlight++;
        batch = nextBatch();
      }
    } finally {
      guard.unlock();
    }
    if (!batch.isEmpty()) {
      sendTogether(batch);
    }
    if (!late.isEmpty()) {
      settle(late, null, gateway.unsent());
    }
  }

  /** Under the lock: the requests that have waited for too long. */
  private List<EtcdRequest> takeLate() {
    List<EtcdRequest> late = new ArrayList<>();
    long oldest = ticker.nanos() - gateway.timeout().toNanos();
    EtcdRequest first = waiting.peek();
    while (first != null && first.since() - oldest < 0) {
      late.add(waiting.remove());
      first = waiting.peek();
    }
    return late;
  }

  private void sendTogether(List<EtcdRequest> batch) {
    send(batch)
        .whenComplete(
            (answers, failure) -> {
              if (answers == null && batch.size() > 1 && isRefusedForItsForm(failure)) {
                batch.forEach(this::sendAlone);
              } else {
                settle(batch, answers, failure);
              }
              sendNext(1);
            });
  }

  /** Under the lock: the oldest requests that fit into one transaction. */
  private List<EtcdRequest> nextBatch() {
    List<EtcdRequest> batch = new ArrayList<>();
    Set<String> written = new HashSet<>();
    int characters = 0;
    Iterator<EtcdRequest> oldest = waiting.iterator();
    while (oldest.hasNext() && batch.size() < MOST_TOGETHER) {
      EtcdRequest request = oldest.next();
      characters += request.body().length();
      if (!batch.isEmpty() && characters > MOST_CHARACTERS) {
        break;
      }
      // One that is left behind holds back all that write the same key.
      boolean alone = true;
      for (String key : request.writes()) {
        alone &= written.add(key);
      }
      if (alone) {
        batch.add(request);
        oldest.remove();
      }
    }
    return batch;
  }

  private CompletionStage<List<EtcdAnswer>> send(List<EtcdRequest> batch) {
    EtcdRequest first = batch.get(0);
    if (batch.size() == 1) {
      return gateway
          .call(first.kind().path, first.body())
          .thenApply(answer -> List.of(new EtcdAnswer(answer, revision(answer))));
    }
    String operations = batch.stream().map(EtcdRequest::operation).collect(Collectors.joining(","));
    return gateway
        .call(RequestKind.TRANSACTION.path, "{\"success\":[" + operations + "]}", batch.size())
        .thenApply(answer -> answers(batch, answer));
  }

  private static long revision(JsonObject answer) {
    return answer.object("header").number("revision");
  }

  private static List<EtcdAnswer> answers(List<EtcdRequest> batch, JsonObject answer) {
    List<JsonObject> responses = answer.objects("responses");
    long revision = revision(answer);
    List<EtcdAnswer> answers = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      answers.add(new EtcdAnswer(responses.get(i).object(batch.get(i).kind().response), revision));
    }
    return answers;
  }

  private static void settle(
      List<EtcdRequest> batch, @Nullable List<EtcdAnswer> answers, @Nullable Throwable failure) {
    for (int i = 0; i < batch.size(); i++) {
      if (answers != null) {
        batch.get(i).answer().complete(answers.get(i));
      } else if (failure != null) {
        batch.get(i).answer().completeExceptionally(CompletionStages.cause(failure));
      }
    }
  }

  private void sendAlone(EtcdRequest request) {
    List<EtcdRequest> alone = List.of(request);
    send(alone).whenComplete((answers, failure) -> settle(alone, answers, failure));
  }

  private static boolean isRefusedForItsForm(@Nullable Throwable failure) {
    return failure != null
        && CompletionStages.cause(failure).getCause() instanceof EtcdRefusal refusal
        && refusal.isOfForm();
  }
}
