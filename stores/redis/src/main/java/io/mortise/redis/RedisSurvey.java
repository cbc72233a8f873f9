package io.mortise.redis;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.LockState;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.redis.codec.KeySpace;
import io.mortise.redis.codec.SurveyCodec;
import io.mortise.redis.command.ScanPager;
import io.mortise.spi.SessionId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the records of all locks, or of all sessions, by SCAN and MGET. No script runs, and of the
 * other keys of a lock only the length of a queue is read, where the record says that there may be
 * waiters. In a cluster each node is scanned once, for all of its buckets; if a bucket moves
 * meanwhile, its entries may be missed or shown twice.
 */
final class RedisSurvey {
  private static final Logger log = LoggerFactory.getLogger(RedisSurvey.class);

  private final List<RedisLockStore> buckets;
  private final IntFunction<Object> nodeOf;
  private final Map<String, RedisLockStore> byPrefix = new HashMap<>();

  /**
   * Surveys the buckets of a cluster, or the only one of a server.
   *
   * @param nodeOf identifies the node that serves a bucket
   */
  RedisSurvey(List<RedisLockStore> buckets, IntFunction<Object> nodeOf) {
    this.buckets = buckets;
    this.nodeOf = nodeOf;
    buckets.forEach(bucket -> byPrefix.put(bucket.keys().prefix(), bucket));
  }

  CompletionStage<Page<LockInfo>> locks(LockQuery query) {
    return new KeyScan<LockInfo>("l:" + query.prefix())
        .page(query.cursor(), query.limit(), (bucket, keys) -> locks(bucket, keys, query.idle()));
  }

  /** With strict expiry a session lives as long as its beat exists. */
  CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return new KeyScan<SessionInfo>(buckets.get(0).isStrict() ? "b:" : "s:")
        .page(cursor, limit, RedisSurvey::sessions);
  }

  /** Looks at keys of one bucket. */
  private interface BucketLook<T> {
    CompletionStage<List<T>> at(RedisLockStore bucket, List<String> keys);
  }

  /** A walk, node by node, over the keys that continue a bucket's prefix in this way. */
  private final class KeyScan<T> {
    private final String beginning;

    KeyScan(String beginning) {
      this.beginning = beginning;
    }

    /** The cursor is the number of a node's first bucket, a colon, and that node's SCAN cursor. */
    CompletionStage<Page<T>> page(@Nullable String cursor, int limit, BucketLook<T> bucketLook) {
      if (cursor == null) {
        return page(0, null, limit, bucketLook);
      }
      int colon = cursor.indexOf(':');
      String number = cursor.substring(0, Math.max(0, colon));
      if (!number.matches("\\d{1,4}") || Integer.parseInt(number) >= buckets.size()) {
        return CompletableFuture.failedFuture(
            new IllegalArgumentException("'" + cursor + "' is not a cursor of this store."));
      }
      String within = cursor.substring(colon + 1);
      return page(Integer.parseInt(number), within.isEmpty() ? null : within, limit, bucketLook);
    }

    private CompletionStage<Page<T>> page(
        int bucket, @Nullable String within, int limit, BucketLook<T> bucketLook) {
      RedisLockStore node = buckets.get(bucket);
      String pattern = pattern();
      return ScanPager.<T>byScans(
              (cursor, count) -> node.scanKeys(cursor, pattern, count),
              keys -> look(keys, bucketLook))
          .page(within, limit)
          .thenCompose(
              page -> {
                int following = nextNode(bucket);
                int room = limit - page.items().size();
                if (page.next() != null) {
                  return completed(page.items(), bucket + ":" + page.next());
                } else if (following == buckets.size()) {
                  return completed(page.items(), null);
                } else if (room <= limit / 2) {
                  return completed(page.items(), following + ":");
                }
                return page(following, null, room, bucketLook)
                    .thenApply(
                        rest ->
                            new Page<>(
                                Stream.concat(page.items().stream(), rest.items().stream())
                                    .toList(),
                                rest.next()));
              });
    }

    private CompletionStage<Page<T>> completed(List<T> items, @Nullable String next) {
      return CompletableFuture.completedFuture(new Page<>(items, next));
    }

    /** The first bucket of the next node. */
    private int nextNode(int bucket) {
      List<Object> before = new ArrayList<>();
      for (int i = 0; i <= bucket; i++) {
        before.add(nodeOf.apply(i));
      }
      int next = bucket + 1;
      while (next < buckets.size() && before.contains(nodeOf.apply(next))) {
        next++;
      }
      return next;
    }

    private String pattern() {
      String prefix = buckets.get(0).keys().prefix();
      if (buckets.size() == 1) {
        return KeySpace.pattern(prefix + beginning);
      }
      // The buckets have the same prefix up to their hash tags.
      String shared = prefix.substring(0, prefix.lastIndexOf('{'));
      return KeySpace.pattern(shared) + KeySpace.pattern("}:" + beginning);
    }

    private CompletionStage<List<T>> look(List<String> keys, BucketLook<T> bucketLook) {
      Map<RedisLockStore, List<String>> byBucket = new LinkedHashMap<>();
      for (String key : keys) {
        RedisLockStore bucket = bucketOf(key);
        if (bucket != null) {
          byBucket.computeIfAbsent(bucket, one -> new ArrayList<>()).add(key);
        }
      }
      CompletionStage<List<T>> all = CompletableFuture.completedFuture(new ArrayList<>());
      for (Map.Entry<RedisLockStore, List<String>> part : byBucket.entrySet()) {
        all =
            all.thenCombine(
                bucketLook.at(part.getKey(), part.getValue()),
                (list, some) -> {
                  list.addAll(some);
                  return list;
                });
      }
      return all;
    }

    /** Null for a key that belongs to no bucket, or is of another kind. */
    private @Nullable RedisLockStore bucketOf(String key) {
      if (buckets.size() == 1) {
        return buckets.get(0);
      }
      String prefix = key.substring(0, key.indexOf('}') + 1) + ":";
      return key.startsWith(beginning, prefix.length()) ? byPrefix.get(prefix) : null;
    }
  }

  private static CompletionStage<List<LockInfo>> locks(
      RedisLockStore store, List<String> keys, boolean idle) {
    return store
        .askTogether(List.of(new String[] {"TIME"}, command("MGET", keys)))
        .thenCompose(
            answers -> {
              long now = micros(answers.get(0));
              Map<String, String> records = byKey(keys, answers.get(1));
              List<String> contended =
                  keys.stream()
                      .filter(key -> SurveyCodec.mayHaveWaiters(records.getOrDefault(key, "")))
                      .toList();
              return waiters(store, contended)
                  .thenApply(
                      waiters ->
                          records.entrySet().stream()
                              .flatMap(
                                  found ->
                                      ours(
                                          store,
                                          found.getKey(),
                                          () ->
                                              SurveyCodec.summary(
                                                  store.keys().nameOf(found.getKey()),
                                                  found.getValue(),
                                                  waiters.getOrDefault(found.getKey(), 0L),
                                                  now)))
                              .filter(line -> idle || line.state() != LockState.FREE)
                              .toList());
            });
  }

  private static CompletionStage<Map<String, Long>> waiters(
      RedisLockStore store, List<String> keys) {
    return store
        .askTogether(
            keys.stream().map(key -> new String[] {"ZCARD", store.keys().queueOf(key)}).toList())
        .thenApply(
            counts -> {
              Map<String, Long> waiters = new HashMap<>();
              for (int i = 0; i < keys.size(); i++) {
                waiters.put(keys.get(i), counts.get(i) instanceof Long count ? count : 0L);
              }
              return waiters;
            });
  }

  private static CompletionStage<List<SessionInfo>> sessions(
      RedisLockStore store, List<String> keys) {
    List<String[]> commands = new ArrayList<>();
    commands.add(command("MGET", keys));
    for (String key : keys) {
      String session = store.keys().sessionOf(key).map(store.keys()::session).orElse(key);
      commands.add(new String[] {"PTTL", session});
    }
    return store
        .askTogether(commands)
        .thenApply(
            answers -> {
              Map<String, String> values = byKey(keys, answers.get(0));
              List<SessionInfo> sessions = new ArrayList<>();
              for (int i = 0; i < keys.size(); i++) {
                String key = keys.get(i);
                Optional<SessionId> id = store.keys().sessionOf(key);
                String value = values.get(key);
                if (id.isPresent() && value != null && answers.get(i + 1) instanceof Long left) {
                  ours(store, key, () -> SurveyCodec.session(id.get(), value, left))
                      .forEach(sessions::add);
                }
              }
              return sessions;
            });
  }

  /** A foreign value under our prefix must not hide the entries beside it. */
  private static <T> Stream<T> ours(RedisLockStore store, String key, Supplier<T> decoded) {
    try {
      return Stream.of(decoded.get());
    } catch (RuntimeException e) {
      log.debug("Passed over a key that is not ours (store={}, key={})", store, key, e);
      return Stream.empty();
    }
  }

  private static String[] command(String command, List<String> keys) {
    return Stream.concat(Stream.of(command), keys.stream()).toArray(String[]::new);
  }

  /** The answers of MGET by key, without keys that are gone or hold no text. */
  private static Map<String, String> byKey(List<String> keys, @Nullable Object answer) {
    Map<String, String> values = new LinkedHashMap<>();
    if (answer instanceof List<?> list && list.size() == keys.size()) {
      for (int i = 0; i < keys.size(); i++) {
        if (list.get(i) instanceof String value) {
          values.put(keys.get(i), value);
        }
      }
      return values;
    }
    throw new IllegalStateException("MGET was answered in another form.");
  }

  private static long micros(@Nullable Object time) {
    if (time instanceof List<?> parts && parts.size() == 2) {
      return Long.parseLong(String.valueOf(parts.get(0))) * 1_000_000
          + Long.parseLong(String.valueOf(parts.get(1)));
    }
    throw new IllegalStateException("TIME was answered in another form.");
  }
}
