package io.mortise.dynamodb;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.internal.document.WatchedKeys;
import io.mortise.support.internal.document.WatchedKeys.WatchRequest;
import io.mortise.support.liveness.BeatMonitor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.GetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;

/**
 * Documents as items of a table. A partition has the documents of one kind of a namespace, sorted
 * by name. The version of a document is a number in its item, which each write raises by one.
 *
 * <p><b>Absence.</b> A removed document leaves its item, with the next version and no text. A write
 * that found none before is refused, since there is an item. A sweep forgets such items after an
 * hour. The version of a document without an item is that of {@link AbsentVersions}, with a zero
 * before it. It serves a write for two minutes: no item is forgotten between the look and the
 * write.
 *
 * <p>Reads are strongly consistent. Thread-safe.
 */
final class DynamoDbDocuments implements VersionedDocuments {
  /** The attributes of an item: partition, sort key, version, text, and whether it was removed. */
  static final String PARTITION = "p";

  static final String NAME = "k";
  private static final String VERSION = "v";
  private static final String TEXT = "t";
  private static final String REMOVED = "r";

  /** The version of a document without an item begins with it. No item has such a version. */
  private static final String NO_ITEM = "0";

  /** Holds the floor of {@link AbsentVersions}; no document has that key. */
  private static final String FLOOR = "version/floor";

  /** No item has it. */
  private static final long NO_VERSION = -1;

  /** Of a query: the items of a partition, or those whose names begin so. */
  private static final String KEY_CONDITION = "p = :p";

  private static final String KEY_CONDITION_WITH_PREFIX = "p = :p AND begins_with(k, :k)";

  /** For longer than a sweep takes, which looks at three million items a day. */
  private static final long ROUND_NANOS = TimeUnit.DAYS.toNanos(2);

  private final DynamoDbRequests requests;
  private final AbsentVersions versions;
  private final WatchedKeys watched = new WatchedKeys(this::poll);

  /** Begins a read after the pause of a poll. */
  private final Executor afterPause;

  /** The items of removed documents that a sweep has seen, and for how long. */
  private final BeatMonitor<String> removed;

  private final Ticker ticker;

  /** When the monitor's round began. */
  private final AtomicLong round;

  /** Sends nothing yet. */
  DynamoDbDocuments(DynamoDbRequests requests, AbsentVersions versions, Ticker ticker) {
    this.requests = requests;
    this.versions = versions;
    this.ticker = ticker;
    // A read only enters a queue, so the timer's own thread begins it.
    this.afterPause =
        CompletableFuture.delayedExecutor(
            requests.target().poll().toMillis(), TimeUnit.MILLISECONDS, Runnable::run);
    this.removed = BeatMonitor.ofRounds(ticker);
    this.round = new AtomicLong(ticker.nanos());
  }

  private Map<String, AttributeValue> key(String key) {
    int slash = key.indexOf('/');
    Map<String, AttributeValue> item = new HashMap<>();
    item.put(PARTITION, partition(key));
    item.put(NAME, AttributeValue.fromS(key.substring(slash + 1)));
    return item;
  }

  private AttributeValue partition(String key) {
    return AttributeValue.fromS(requests.target().prefix() + key.substring(0, key.indexOf('/')));
  }

  private static String name(Map<String, AttributeValue> item) {
    return Objects.requireNonNull(item.get(NAME)).s();
  }

  private static AttributeValue number(long number) {
    return AttributeValue.fromN(Long.toString(number));
  }

  @Override
  public CompletionStage<VersionedText> read(String key) {
    return item(key)
        .thenCompose(
            item ->
                item.isEmpty()
                    ? knownFloor().thenApply(known -> absent())
                    : completedFuture(document(item)));
  }

  /** Empty if there is none. */
  private CompletionStage<Map<String, AttributeValue>> item(String key) {
    return requests.send(
        client -> {
          GetItemResponse found =
              requests.proven(
                  client.getItem(
                      request ->
                          request
                              .tableName(requests.target().table())
                              .key(key(key))
                              .consistentRead(true)
                              .overrideConfiguration(requests.options())));
          return found.item();
        });
  }

  private VersionedText absent() {
    return new VersionedText(null, NO_ITEM + versions.now());
  }

  private VersionedText document(Map<String, AttributeValue> item) {
    AttributeValue version = item.get(VERSION);
    if (version == null || version.n() == null || !version.n().matches("[1-9]\\d{0,17}")) {
      throw new StoreUnfitException(
          "Item '%s' has no version (store=%s). Another program has made it: give it a table of its own."
              .formatted(FailureText.quoted(name(item)), requests.target()));
    }
    AttributeValue text = item.get(TEXT);
    return new VersionedText(
        item.containsKey(REMOVED) ? null : text == null ? "" : text.s(), version.n());
  }

  @Override
  public CompletionStage<Written> compareAndSet(
      String key, VersionedText found, @Nullable String text) {
    long seen = Long.parseLong(found.version());
    boolean made = found.version().startsWith(NO_ITEM);
    Map<String, AttributeValue> item = key(key);
    item.put(VERSION, number(seen + 1));
    if (text == null) {
      item.put(REMOVED, AttributeValue.fromBool(true));
    } else {
      item.put(TEXT, AttributeValue.fromS(text));
    }
    return put(item, made ? WriteCondition.ABSENT : WriteCondition.SAME_VERSION, seen)
        .thenApply(
            written -> {
              if (written.made()) {
                watched.written(key, seen + 1);
              }
              return written;
            });
  }

  /** Whether the item was written, and what stands there. */
  private CompletionStage<Written> put(
      Map<String, AttributeValue> item, WriteCondition condition, long version) {
    return requests.send(
        client -> {
          if (condition == WriteCondition.ABSENT && !versions.isRecent(version)) {
            return new Written(false, null);
          }
          try {
            requests.proven(
                client.putItem(
                    request ->
                        request
                            .tableName(requests.target().table())
                            .item(item)
                            .conditionExpression(condition.expression())
                            .expressionAttributeValues(condition.values(version))
                            .returnValuesOnConditionCheckFailure(
                                ReturnValuesOnConditionCheckFailure.ALL_OLD)
                            .overrideConfiguration(requests.options())));
            return new Written(true, document(item));
          } catch (ConditionalCheckFailedException e) {
            return new Written(false, e.hasItem() ? document(e.item()) : null);
          }
        });
  }

  /** Reads the floor if that was long ago. */
  private CompletionStage<Boolean> knownFloor() {
    return versions.knowsFloor() ? completedFuture(true) : readFloor();
  }

  /** Reads the floor; true. */
  CompletionStage<Boolean> readFloor() {
    long begun = versions.begin();
    return item(FLOOR)
        .thenApply(
            item -> {
              long floor = item.isEmpty() ? 0 : Long.parseLong(document(item).version());
              versions.learn(floor, begun);
              return true;
            });
  }

  /**
   * A write, a list and a removal that change nothing, and are refused to those who may not; false.
   */
  CompletionStage<Boolean> checkAccess() {
    Map<String, AttributeValue> item = key(FLOOR);
    item.put(VERSION, number(0));
    return put(item, WriteCondition.SAME_VERSION, NO_VERSION)
        .thenCompose(refused -> scan(FLOOR, "", 1))
        .thenCompose(keys -> delete(FLOOR, NO_VERSION));
  }

  /** Forgets the item of a removed document that this process has seen stand for an hour. */
  @Override
  public CompletionStage<Boolean> forget(String key) {
    return item(key)
        .thenCompose(
            item ->
                item.containsKey(REMOVED)
                    ? forget(key, Long.parseLong(document(item).version()))
                    : completedFuture(false));
  }

  private CompletionStage<Boolean> forget(String key, long version) {
    if (version >= versions.floor()) {
      // Each process knows the floor long before the hour is over, which begins then.
      return raiseFloor(Math.max(version + 1, versions.now())).thenApply(raised -> false);
    }
    long began = round.get();
    if (ticker.nanos() - began > ROUND_NANOS && round.compareAndSet(began, ticker.nanos())) {
      removed.endRound();
    }
    if (!removed.left(key, version, AbsentVersions.REMOVED_KEPT).isZero()) {
      return completedFuture(false);
    }
    removed.forget(key);
    return delete(key, version);
  }

  private CompletionStage<Boolean> raiseFloor(long floor) {
    long begun = versions.begin();
    Map<String, AttributeValue> item = key(FLOOR);
    item.put(VERSION, number(floor));
    return put(item, WriteCondition.ABSENT_OR_LOWER, floor)
        .thenCompose(
            written -> {
              if (!written.made()) {
                return readFloor();
              }
              versions.learn(floor, begun);
              return completedFuture(true);
            });
  }

  private CompletionStage<Boolean> delete(String key, long version) {
    return requests.send(
        client -> {
          try {
            requests.proven(
                client.deleteItem(
                    request ->
                        request
                            .tableName(requests.target().table())
                            .key(key(key))
                            .conditionExpression(WriteCondition.SAME_VERSION.expression())
                            .expressionAttributeValues(WriteCondition.SAME_VERSION.values(version))
                            .overrideConfiguration(requests.options())));
            return true;
          } catch (ConditionalCheckFailedException e) {
            return false;
          }
        });
  }

  @Override
  public CompletionStage<List<String>> scan(String keyPrefix, String after, int limit) {
    return list(keyPrefix, after, limit, NAME)
        .thenApply(listed -> listed.stream().map(ListedText::key).toList());
  }

  @Override
  public CompletionStage<List<ListedText>> scanTexts(String keyPrefix, String after, int limit) {
    return list(keyPrefix, after, limit, null);
  }

  /**
   * Lists items.
   *
   * @param attribute the one that is asked for; null for all. Only these have versions and texts
   */
  private CompletionStage<List<ListedText>> list(
      String keyPrefix, String after, int limit, @Nullable String attribute) {
    String kind = keyPrefix.substring(0, keyPrefix.indexOf('/') + 1);
    String begin = keyPrefix.substring(kind.length());
    boolean isWithin = after.isEmpty() || after.startsWith(keyPrefix);
    if (!isWithin && after.compareTo(keyPrefix) > 0) {
      return completedFuture(List.of());
    }
    Map<String, AttributeValue> values = new HashMap<>();
    values.put(":p", partition(keyPrefix));
    if (!begin.isEmpty()) {
      values.put(":k", AttributeValue.fromS(begin));
    }
    return requests.send(
        client -> {
          List<ListedText> listed = new ArrayList<>();
          Map<String, AttributeValue> from = isWithin && !after.isEmpty() ? key(after) : Map.of();
          do {
            Map<String, AttributeValue> last = from;
            QueryResponse page =
                requests.proven(
                    client.query(
                        request ->
                            request
                                .tableName(requests.target().table())
                                .keyConditionExpression(
                                    begin.isEmpty() ? KEY_CONDITION : KEY_CONDITION_WITH_PREFIX)
                                .expressionAttributeValues(values)
                                .projectionExpression(attribute)
                                .exclusiveStartKey(last.isEmpty() ? null : last)
                                .limit(limit - listed.size())
                                .consistentRead(true)
                                .overrideConfiguration(requests.options())));
            for (Map<String, AttributeValue> item : page.items()) {
              listed.add(
                  new ListedText(
                      kind + name(item),
                      attribute == null ? document(item) : VersionedText.ABSENT));
            }
            from = page.hasLastEvaluatedKey() ? page.lastEvaluatedKey() : Map.of();
          } while (!from.isEmpty() && listed.size() < limit);
          return listed;
        });
  }

  @Override
  public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
    return watched.add(key, changed);
  }

  @Override
  public Duration watchDelay() {
    return requests.target().poll();
  }

  /** Reads a document again and again, in place of a push, which DynamoDB does not have. */
  private void poll(String key, WatchRequest request) {
    CompletableFuture<Void> polling = new CompletableFuture<>();
    request.carriedBy(polling, none -> {});
    readLater(key, request, polling);
  }

  /** The next read does not depend on how this one goes. */
  private void readLater(String key, WatchRequest request, CompletableFuture<Void> polling) {
    afterPause.execute(
        () -> {
          if (!polling.isDone()) {
            var unused =
                CompletionStages.start(() -> read(key))
                    .whenComplete((found, failure) -> readLater(key, request, polling))
                    .thenAccept(found -> tell(request, found));
          }
        });
  }

  private static void tell(WatchRequest request, VersionedText found) {
    long version = Long.parseLong(found.version());
    if (found.text() != null && version > request.seen()) {
      request.tell(version, found.text(), false);
    }
  }

  @Override
  public void close() {
    watched.close();
    requests.close();
  }
}
