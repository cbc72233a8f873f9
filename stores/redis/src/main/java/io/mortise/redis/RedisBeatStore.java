package io.mortise.redis;

import io.mortise.StoreUnfitException;
import io.mortise.redis.codec.KeySpace;
import io.mortise.redis.codec.LockCodec;
import io.mortise.redis.transport.RedisReplies;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionId;
import io.mortise.spi.time.Ticker;
import io.mortise.support.liveness.BeatStore;
import io.mortise.support.liveness.StrictExpiryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/**
 * Sessions that are not expired by the server's clock. The session's key, which expires, is only a
 * guess; the beat beside it does not expire.
 */
final class RedisBeatStore implements BeatStore {
  private final RedisLockStore store;

  /** Cursor at which the next check of sessions continues. */
  private volatile String cursor = "0";

  private RedisBeatStore(RedisLockStore store) {
    this.store = store;
  }

  /**
   * Wraps the store if its options ask for strict expiry. Blocks.
   *
   * @throws StoreUnfitException if others use the namespace in the other mode
   */
  static LockStore wrapIfStrict(RedisLockStore store, Ticker ticker) {
    try {
      boolean strict =
          store
              .call(
                  Script.STRICT_MODE,
                  List.of(store.keys().mode()),
                  List.of(store.isStrict() ? "1" : "0"))
              .thenApply(RedisReplies::isOne)
              .toCompletableFuture()
              .join();
      if (strict && !store.isStrict()) {
        throw new StoreUnfitException(
            "The namespace is used with strict expiry (store="
                + store
                + "). Add strict-expiry=true, as all others have.");
      }
    } catch (RuntimeException e) {
      store.close();
      throw e instanceof CompletionException && e.getCause() instanceof RuntimeException cause
          ? cause
          : e;
    }
    if (!store.isStrict()) {
      return store;
    }
    return new StrictExpiryStore(store, new RedisBeatStore(store), ticker);
  }

  @Override
  public CompletionStage<Optional<SessionBeat>> read(SessionId session) {
    return store
        .call(Script.JUDGE, List.of(store.keys().beat(session)), List.of("whole"))
        .thenApply(
            answer ->
                answer instanceof String text
                    ? Optional.of(
                        new SessionBeat(
                            LockCodec.number(text, 0, 16),
                            Duration.ofMillis(LockCodec.number(text, 16, 32))))
                    : Optional.empty());
  }

  @Override
  public CompletionStage<List<SessionId>> some(int limit) {
    return store
        .scanKeys(cursor, store.keys().everyBeat(), limit)
        .thenApply(
            found -> {
              cursor = found.cursor();
              return found.keys().stream()
                  .flatMap(key -> store.keys().sessionOf(key).stream())
                  .toList();
            });
  }

  @Override
  public CompletionStage<Boolean> end(SessionId session, long beat) {
    KeySpace keys = store.keys();
    return store
        .call(
            Script.STRICT_END,
            List.of(keys.beat(session), keys.session(session), keys.notifications(session)),
            List.of(LockCodec.digits(beat, 16)))
        .thenApply(RedisReplies::isOne);
  }

  @Override
  public CompletionStage<Boolean> revive(SessionId session) {
    KeySpace keys = store.keys();
    return store
        .call(Script.STRICT_REVIVE, List.of(keys.beat(session), keys.session(session)), List.of())
        .thenApply(RedisReplies::isOne);
  }
}
