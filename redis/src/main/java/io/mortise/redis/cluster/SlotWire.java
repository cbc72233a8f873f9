package io.mortise.redis.cluster;

import io.mortise.redis.wire.DirectWire;
import io.mortise.redis.wire.ErrorReplyException;
import io.mortise.redis.wire.NotSentException;
import io.mortise.redis.wire.RedisWire;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Leads to whichever node serves one slot of a cluster. Many share the two connections to a node.
 *
 * <p>What a node refuses, since the slot has moved or is on its way, was not executed, and may be
 * sent again: {@link #retryAfter} says so. An ASK is never followed: what belongs together in a
 * slot is split over two nodes then, and no script may run on half of it.
 */
public final class SlotWire implements RedisWire {
  /** A slot that moves does so for milliseconds, mostly. */
  private static final Duration MOVING = Duration.ofMillis(10);

  private final ClusterNodes nodes;
  private final int slot;
  private final ClusterNodes.Lane lane;
  private final Map<String, Consumer<String>> listeners = new ConcurrentHashMap<>();

  /** Where the subscriptions are. */
  private volatile @Nullable DirectWire listening;

  private boolean sharded;
  private volatile boolean closed;

  SlotWire(ClusterNodes nodes, int slot, ClusterNodes.Lane lane) {
    this.nodes = nodes;
    this.slot = slot;
    this.lane = lane;
  }

  /** From now on channels belong to the slot; a server from 7.0 on knows such. */
  public synchronized void useShardChannels() {
    sharded = true;
  }

  private @Nullable DirectWire wire() {
    return closed ? null : nodes.connection(slot, lane);
  }

  @Override
  public void execute(Runnable task) {
    task.run();
  }

  @Override
  public void schedule(Runnable task, Duration delay) {
    try {
      var unused = nodes.timer().schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException ended) {
      task.run();
    }
  }

  @Override
  public boolean isOpen() {
    DirectWire wire = wire();
    boolean open = wire != null && wire.isOpen();
    if (!open && !closed) {
      nodes.lookSoon();
    }
    return open;
  }

  @Override
  public CompletionStage<@Nullable Object> call(String... words) {
    return connection().call(words);
  }

  @Override
  public String whyNotOpen() {
    DirectWire wire = wire();
    return wire == null ? "No node serves the slot." : wire.whyNotOpen();
  }

  @Override
  public Connection connection() {
    DirectWire wire = wire();
    if (wire == null) {
      nodes.lookSoon();
      return new Nowhere();
    }
    Connection there = wire.connection();
    return new Connection() {
      @Override
      public CompletionStage<@Nullable Object> call(String... words) {
        return noticing(there.call(words));
      }

      @Override
      public CompletionStage<Long> acknowledged(int replicas, Duration timeout) {
        return noticing(there.acknowledged(replicas, timeout));
      }
    };
  }

  private static final class Nowhere implements Connection {
    @Override
    public CompletionStage<@Nullable Object> call(String... words) {
      return CompletableFuture.failedStage(new NotSentException("No node serves the slot."));
    }

    @Override
    public CompletionStage<Long> acknowledged(int replicas, Duration timeout) {
      return CompletableFuture.failedStage(new NotSentException("No node serves the slot."));
    }
  }

  /** What goes wrong may say that the slot is elsewhere. */
  private <T extends @Nullable Object> CompletionStage<T> noticing(CompletionStage<T> answer) {
    return answer.whenComplete(
        (unused, failure) -> {
          Throwable cause =
              failure instanceof CompletionException && failure.getCause() != null
                  ? failure.getCause()
                  : failure;
          if (cause instanceof ErrorReplyException error) {
            refused(error);
          } else if (cause != null) {
            nodes.lookSoon();
          }
        });
  }

  private void refused(ErrorReplyException error) {
    if (error.is("MOVED")) {
      // MOVED <slot> <host>:<port>
      String[] words = String.valueOf(error.getMessage()).split(" ", -1);
      if (words.length >= 3 && words[1].equals(Integer.toString(slot))) {
        nodes.moved(slot, words[2]);
      }
    } else if (error.is("CLUSTERDOWN")) {
      nodes.lookSoon();
    }
  }

  @Override
  public @Nullable Duration retryAfter(ErrorReplyException error) {
    if (error.is("MOVED")) {
      return Duration.ofMillis(1);
    }
    return error.is("ASK") || error.is("TRYAGAIN") ? MOVING : null;
  }

  // ---- Subscriptions ----

  @Override
  public synchronized void subscribe(String channel, Consumer<String> listener) {
    listeners.put(channel, listener);
    follow();
    DirectWire there = listening;
    if (there != null) {
      subscribe(there, channel, listener);
    }
  }

  private void subscribe(DirectWire there, String channel, Consumer<String> listener) {
    if (sharded) {
      there.subscribeInShard(channel, listener);
    } else {
      there.subscribe(channel, listener);
    }
  }

  /** Also false while the slot's new server is not listened to yet. */
  @Override
  public boolean isSubscribed(String channel) {
    DirectWire there = listening;
    return there != null && there == wire() && there.isSubscribed(channel);
  }

  @Override
  public synchronized void unsubscribe(String channel) {
    DirectWire there = listening;
    if (listeners.remove(channel) != null && there != null) {
      there.unsubscribe(channel);
    }
  }

  /** Who serves the slot may have changed: whoever listens does so there. */
  synchronized void follow() {
    if (listeners.isEmpty()) {
      return;
    }
    DirectWire there = wire();
    DirectWire before = listening;
    if (there == before) {
      return;
    }
    listening = there;
    for (Map.Entry<String, Consumer<String>> entry : listeners.entrySet()) {
      if (before != null) {
        before.unsubscribe(entry.getKey());
      }
      if (there != null) {
        subscribe(there, entry.getKey(), entry.getValue());
      }
    }
  }

  @Override
  public void lend(BooleanSupplier done, BooleanSupplier expected) {
    DirectWire wire = wire();
    if (wire != null) {
      wire.lend(done, expected);
    }
  }

  @Override
  public void needReader() {
    DirectWire wire = wire();
    if (wire != null) {
      wire.needReader();
    }
  }

  @Override
  public void reset() {
    DirectWire wire = wire();
    if (wire != null) {
      wire.reset();
    }
  }

  /** Leaves the connections to the others that share them. */
  @Override
  public void close() {
    closed = true;
    nodes.forget(this);
  }
}
