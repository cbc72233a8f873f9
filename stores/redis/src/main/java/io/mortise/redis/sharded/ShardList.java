package io.mortise.redis.sharded;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import io.mortise.redis.transport.LuaScript;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.spi.time.Ticker;
import io.mortise.support.partition.RendezvousHash;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The list of servers, stored on each of them, so that no two clients spread names in different
 * ways.
 *
 * @param ids of the servers, as this client has them
 * @param prefix of all keys
 * @param move how long names that change their server are shut, if another list may be replaced;
 *     null if it may not
 * @param timeout how long a server may take to answer
 */
public record ShardList(
    List<String> ids, String prefix, @Nullable Duration move, Duration timeout) {
  private static final LuaScript SCRIPT = LuaScript.beside(ShardList.class, "shards.lua");

  /** The list as text, independent of its order. */
  String text() {
    return String.join(",", ids.stream().sorted().toList());
  }

  /** Names that move from their server in another list. */
  static final class ShardMigration {
    static final ShardMigration NOTHING = new ShardMigration(List.of(), 0);

    private final List<String> formerIds;
    private final @Nullable RendezvousHash former;
    private final long until;

    ShardMigration(List<String> formerIds, long until) {
      this.formerIds = formerIds;
      this.former = formerIds.isEmpty() ? null : new RendezvousHash(formerIds);
      this.until = until;
    }

    /** How much longer the name stays shut on the server of this id; zero if it is open. */
    Duration left(LockName name, String id, Ticker ticker) {
      RendezvousHash before = former;
      if (before == null) {
        return Duration.ZERO;
      }
      long left = until - ticker.nanos();
      return left <= 0 || formerIds.get(before.of(name)).equals(id)
          ? Duration.ZERO
          : Duration.ofNanos(left);
    }
  }

  /**
   * Compares with the server's list, and stores this one where that is allowed. Blocks.
   *
   * @throws StoreUnavailableException if the server does not answer
   * @throws StoreUnfitException if it has another list, and that may not be replaced
   */
  ShardMigration check(RedisTransport control, String display, Ticker ticker) {
    Object answer;
    try {
      answer =
          control
              .call(
                  "EVAL",
                  SCRIPT.text(),
                  "2",
                  prefix + "shards",
                  prefix + "moving",
                  text(),
                  Long.toString(move == null ? 0 : move.toMillis()))
              .toCompletableFuture()
              .get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unavailable(display, e);
    } catch (ExecutionException | TimeoutException e) {
      throw unavailable(display, e);
    }
    if (!(answer instanceof List<?> parts) || parts.size() != 3) {
      throw new StoreUnfitException(
          "The server does not tell its list of servers (store=" + display + ").");
    }
    String former = String.valueOf(parts.get(1));
    if (Long.valueOf(0).equals(parts.get(0))) {
      throw new StoreUnfitException(
          ("The server has names of the servers '%s', and this client of '%s' (store=%s). Give all clients the same"
                  + " servers, or, when no client uses the former list any more, add move=<the longest TTL of any client>.")
              .formatted(FailureText.quoted(former), text(), display));
    }
    long left = parts.get(2) instanceof Long millis ? millis : 0;
    return left <= 0
        ? ShardMigration.NOTHING
        : new ShardMigration(
            Arrays.asList(former.split(",")), ticker.nanos() + TimeUnit.MILLISECONDS.toNanos(left));
  }

  private static StoreUnavailableException unavailable(String display, Throwable cause) {
    return new StoreUnavailableException(
        "The server did not tell its list of servers in time (store=" + display + ").", cause);
  }
}
