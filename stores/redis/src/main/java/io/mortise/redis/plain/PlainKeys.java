package io.mortise.redis.plain;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.redis.plain.CommandExecutor.CommandFailure;
import io.mortise.redis.plain.KeyLayout.CompareAndDelete;
import io.mortise.redis.transport.RedisReplies;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.support.expiring.ExpiringKeys;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The keys of a layout, with one connection for requests and one for renewals. */
final class PlainKeys implements ExpiringKeys {
  /** The prefix of fact names in keys; no lock has such a name. */
  private static final String FACT = "mortise:fact:";

  /** Locks that one command extends: some 200 µs of server time. */
  private static final int CHUNK = 100;

  private final StoreProfile profile;
  private final PlainOptions options;
  private final CompareAndDelete compareAndDelete;
  private final CommandExecutor requests;
  private final CommandExecutor renewals;

  PlainKeys(
      StoreProfile profile,
      PlainOptions options,
      CompareAndDelete compareAndDelete,
      CommandExecutor requests,
      CommandExecutor renewals) {
    this.profile = profile;
    this.options = options;
    this.compareAndDelete = compareAndDelete;
    this.requests = requests;
    this.renewals = renewals;
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  String key(LockName name) {
    return options.prefix() + name.value();
  }

  String factKey(LockName name) {
    return options.prefix() + FACT + name.value();
  }

  /** Whether the key of that name belongs to a fact, not a lock. */
  static boolean isFact(LockName name) {
    return name.value().startsWith(FACT);
  }

  @Override
  public Optional<Reply.Refused> refusal(Request request) {
    if (!isFact(request.name())) {
      return profile.refusal(request);
    }
    return Optional.of(
        new Reply.Refused(
            request.attempt(),
            Reply.RefusalReason.UNSUPPORTED,
            "Lock name '%s' is that of a key which keeps a result of 'once', a latch or a barrier (store=%s). Use another name."
                .formatted(request.name(), profile.display())));
  }

  @Override
  public CompletableFuture<TakenKey> take(LockName name, AttemptId attempt, SessionSpec session) {
    return requests
        .call(options.layout().take(key(name), attempt.encoded(), millis(session.ttl())))
        .thenCompose(
            answer ->
                options.layout().isTaken(answer)
                    ? CompletableFuture.completedFuture(TakenKey.TAKEN)
                    : holder(requests, name)
                        .thenApply(
                            holder -> holder.map(PlainKeys::takenBefore).orElse(TakenKey.GONE)));
  }

  private static TakenKey takenBefore(KeyHolder holder) {
    return new TakenKey(
        false, new KeyOwner(holder.attempt(), holder.left(), holder.left().plusMillis(1)));
  }

  private static String millis(Duration ttl) {
    return Long.toString(ttl.toMillis());
  }

  /** The holder of a lock, for inspection. */
  CompletableFuture<Optional<KeyHolder>> holder(LockName name) {
    return holder(renewals, name);
  }

  /** The holder of a lock; empty if it is free. Two pipelined commands. */
  private CompletableFuture<Optional<KeyHolder>> holder(
      CommandExecutor commandExecutor, LockName name) {
    CompletableFuture<@Nullable Object> holder =
        commandExecutor
            .call(options.layout().who(key(name)))
            .exceptionally(
                failure -> {
                  if (isOtherType(failure)) {
                    return new WrongTypeReply();
                  }
                  throw new CompletionException(failure);
                });
    CompletableFuture<@Nullable Object> left =
        commandExecutor.call(RedisCommand.of("PTTL", key(name)));
    return holder.thenCombine(
        left,
        (who, millis) -> {
          String value =
              who instanceof WrongTypeReply ? KeyHolder.UNKNOWN : options.layout().holder(who);
          // -2: the key vanished between the two.
          return value == null || !(millis instanceof Long pttl) || pttl == -2
              ? Optional.empty()
              : Optional.of(KeyHolder.of(value, pttl));
        });
  }

  private static final class WrongTypeReply {}

  private static boolean isOtherType(@Nullable Throwable failure) {
    return CommandExecutor.failure(failure).filter(refusal -> refusal.is("WRONGTYPE")).isPresent();
  }

  @Override
  public CompletableFuture<List<Boolean>> extend(List<AttemptKey> keys, Duration ttl) {
    return extend(requests, keys, ttl);
  }

  @Override
  public CompletableFuture<KeyRenewal> renew(List<AttemptKey> keys, Duration ttl) {
    return renewals
        .call(RedisCommand.of("TIME"))
        .thenCombine(
            extend(renewals, keys, ttl),
            (time, extended) -> new KeyRenewal(micros(time), extended));
  }

  private CompletableFuture<List<Boolean>> extend(
      CommandExecutor commandExecutor, List<AttemptKey> keys, Duration ttl) {
    CompletableFuture<List<Boolean>> extended = CompletableFuture.completedFuture(List.of());
    for (int from = 0; from < keys.size(); from += CHUNK) {
      List<AttemptKey> chunk = keys.subList(from, Math.min(keys.size(), from + CHUNK));
      extended = extended.thenCombine(extendChunk(commandExecutor, chunk, ttl), PlainKeys::concat);
    }
    return extended;
  }

  private CompletableFuture<List<Boolean>> extendChunk(
      CommandExecutor commandExecutor, List<AttemptKey> chunk, Duration ttl) {
    List<String> keys = chunk.stream().map(key -> key(key.name())).toList();
    List<String> values = chunk.stream().map(key -> key.attempt().encoded()).toList();
    return commandExecutor
        .call(options.layout().extend(keys, values, millis(ttl)))
        .thenApply(
            answer -> {
              if (!(answer instanceof List<?> extended) || extended.size() != chunk.size()) {
                throw new StoreUnavailableException(
                    "Redis answered to a renewal in another form (store="
                        + profile.display()
                        + ").");
              }
              return extended.stream().map(RedisReplies::isOne).toList();
            });
  }

  private static <T> List<T> concat(List<T> left, List<T> right) {
    List<T> both = new ArrayList<>(left);
    both.addAll(right);
    return both;
  }

  private static long micros(@Nullable Object time) {
    return time instanceof List<?> parts && parts.size() == 2
        ? Long.parseLong(String.valueOf(parts.get(0))) * 1_000_000
            + Long.parseLong(String.valueOf(parts.get(1)))
        : 0;
  }

  @Override
  public CompletableFuture<Boolean> release(LockName name, AttemptId attempt) {
    return requests
        .call(options.layout().release(key(name), attempt.encoded(), compareAndDelete))
        .handle(
            (answer, failure) -> {
              if (failure == null) {
                return RedisReplies.isOne(answer);
              } else if (isOtherType(failure)) {
                return false;
              }
              throw new CompletionException(failure);
            });
  }

  @Override
  public Reply failed(Request request, Throwable failure) {
    CommandFailure commandFailure = CommandExecutor.failure(failure).orElse(null);
    if (commandFailure == null) {
      return new Reply.Failed(request.attempt(), true, failure);
    }
    if (commandFailure.is("OOM")) {
      return new Reply.Refused(
          request.attempt(),
          Reply.RefusalReason.STORE_FULL,
          "Redis has no memory left for lock '%s' (store=%s): free some, or raise maxmemory."
              .formatted(request.name(), profile.display()));
    }
    return new Reply.Failed(
        request.attempt(), commandFailure.mayHaveRun(), commandFailure.unavailable());
  }
}
