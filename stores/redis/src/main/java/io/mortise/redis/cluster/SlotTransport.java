package io.mortise.redis.cluster;

import io.mortise.redis.transport.DirectTransport;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.NotSentException;
import io.mortise.redis.transport.RedisReplies;
import io.mortise.redis.transport.RedisTransport;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Leads to the node that serves one slot of a cluster. Many slots share the two connections to a
 * node.
 *
 * <p>A request that a node refuses because its slot has moved or migrates was not executed, and may
 * be sent again, with a growing delay: see {@link #retryAfter}. An ASK is never followed: the
 * slot's keys are split over two nodes then, and no script may run on half of them.
 */
public final class SlotTransport implements RedisTransport {
  /** Most slots migrate within milliseconds. */
  private static final Duration MOVING = Duration.ofMillis(10);

  private static final int MOST_DOUBLINGS = 4;

  private final ClusterNodes nodes;
  private final int slot;
  private final ClusterNodes.ConnectionRole role;
  private final Map<String, Consumer<String>> listeners = new ConcurrentHashMap<>();

  /**
   * Not a monitor: subscriptions are written to sockets under it, which would pin virtual threads.
   */
  private final ReentrantLock guard = new ReentrantLock();

  /** The transport that has the subscriptions. Changes under the guard. */
  private volatile @Nullable DirectTransport listening;

  // Guarded by the guard.
  private boolean sharded;

  private volatile boolean closed;

  SlotTransport(ClusterNodes nodes, int slot, ClusterNodes.ConnectionRole role) {
    this.nodes = nodes;
    this.slot = slot;
    this.role = role;
  }

  /** Ties channels to the slot from now on; a server supports that from 7.0 on. */
  public void useShardChannels() {
    guard.lock();
    try {
      sharded = true;
    } finally {
      guard.unlock();
    }
  }

  private @Nullable DirectTransport transport() {
    return closed ? null : nodes.connection(slot, role);
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
    DirectTransport transport = transport();
    boolean open = transport != null && transport.isOpen();
    if (!open && !closed) {
      nodes.lookSoon();
    }
    return open;
  }

  @Override
  public CompletionStage<@Nullable Object> call(String... words) {
    DirectTransport transport = transport();
    return transport == null ? connection().call(words) : noticing(transport.call(words));
  }

  @Override
  public String outageReason() {
    DirectTransport transport = transport();
    return transport == null ? "No node serves the slot." : transport.outageReason();
  }

  @Override
  public TransportConnection connection() {
    DirectTransport transport = transport();
    if (transport == null) {
      nodes.lookSoon();
      return new UnservedSlotConnection();
    }
    TransportConnection there = transport.connection();
    return new TransportConnection() {
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

  private static final class UnservedSlotConnection implements TransportConnection {
    @Override
    public CompletionStage<@Nullable Object> call(String... words) {
      return CompletableFuture.failedStage(new NotSentException("No node serves the slot."));
    }

    @Override
    public CompletionStage<Long> acknowledged(int replicas, Duration timeout) {
      return CompletableFuture.failedStage(new NotSentException("No node serves the slot."));
    }
  }

  /** A failure may mean that another node serves the slot now. */
  private <T extends @Nullable Object> CompletionStage<T> noticing(CompletionStage<T> answer) {
    return answer.whenComplete(
        (unused, failure) -> {
          Throwable cause = failure == null ? null : RedisReplies.unwrap(failure);
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
  public @Nullable Duration retryAfter(ErrorReplyException error, int refusals) {
    // A migration that was left half done lasts for hours.
    int longer = 1 << Math.min(refusals, MOST_DOUBLINGS);
    if (error.is("MOVED")) {
      // Without a host, the nodes must be asked first.
      boolean told = !String.valueOf(error.getMessage()).contains(" ?:");
      return told ? Duration.ofMillis(longer) : MOVING.multipliedBy(5);
    }
    return error.is("ASK") || error.is("TRYAGAIN") ? MOVING.multipliedBy(longer) : null;
  }

  // ---- Subscriptions ----

  @Override
  public void subscribe(String channel, Consumer<String> listener) {
    guard.lock();
    try {
      listeners.put(channel, listener);
      follow();
      DirectTransport there = listening;
      if (there != null) {
        subscribe(there, channel, listener);
      }
    } finally {
      guard.unlock();
    }
  }

  /** Called under the guard. */
  private void subscribe(DirectTransport there, String channel, Consumer<String> listener) {
    if (sharded) {
      there.subscribeInShard(channel, listener);
    } else {
      there.subscribe(channel, listener);
    }
  }

  @Override
  public boolean isDenied(String channel) {
    DirectTransport there = listening;
    return there != null && there.isDenied(channel);
  }

  /** Also false until the slot's new server has confirmed the subscription. */
  @Override
  public boolean isSubscribed(String channel) {
    DirectTransport there = listening;
    return there != null && there == transport() && there.isSubscribed(channel);
  }

  @Override
  public void unsubscribe(String channel) {
    guard.lock();
    try {
      DirectTransport there = listening;
      if (listeners.remove(channel) != null && there != null) {
        there.unsubscribe(channel);
      }
    } finally {
      guard.unlock();
    }
  }

  /** Moves the subscriptions if another node serves the slot now. */
  void follow() {
    guard.lock();
    try {
      DirectTransport there = transport();
      DirectTransport before = listening;
      if (listeners.isEmpty() || there == before) {
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
    } finally {
      guard.unlock();
    }
  }

  @Override
  public void readOnCaller(BooleanSupplier done, BooleanSupplier expected) {
    DirectTransport transport = transport();
    if (transport != null) {
      transport.readOnCaller(done, expected);
    }
  }

  @Override
  public void requireReaderThread() {
    DirectTransport transport = transport();
    if (transport != null) {
      transport.requireReaderThread();
    }
  }

  @Override
  public void reset() {
    DirectTransport transport = transport();
    if (transport != null) {
      transport.reset();
    }
  }

  /** Leaves the connections open for the others that share them. */
  @Override
  public void close() {
    closed = true;
    nodes.forget(this);
  }
}
