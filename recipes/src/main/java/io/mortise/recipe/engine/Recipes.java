package io.mortise.recipe.engine;

import io.mortise.DistributedLock;
import io.mortise.DistributedOnce;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.internal.recipe.ClientRecipes;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.StoreCall;
import io.mortise.recipe.DistributedBarrier;
import io.mortise.recipe.DistributedLatch;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/** The recipes of one client, and their open waits. */
final class Recipes implements ClientRecipes {
  /** Longer than any wait; its nanoseconds can be added to a clock. */
  private static final Duration HOWEVER_LONG = Duration.ofDays(36_500);

  private static final Duration LONGEST_KEPT = Duration.ofDays(3650);

  /** The length of a random id, in bytes. */
  private static final int ID_BYTES = 9;

  /** Selects the first 32 digits of Base64: letters. */
  private static final byte FIRST_LETTERS = 0x7F;

  private final LockStore store;
  private final EngineEnv env;
  private final Runnable refuseIfClosed;
  private final Function<String, DistributedLock> locks;
  private final FactClient facts;
  private final Map<Long, CompletableFuture<?>> waits = new ConcurrentHashMap<>();
  private final AtomicLong lastWait = new AtomicLong();

  /**
   * The recipes of a client.
   *
   * @param locks the client's exclusive locks by name
   */
  Recipes(
      LockStore store,
      EngineEnv env,
      Runnable refuseIfClosed,
      Function<String, DistributedLock> locks) {
    this.store = store;
    this.env = env;
    this.refuseIfClosed = refuseIfClosed;
    this.locks = locks;
    this.facts = new FactClient(store, env);
  }

  @Override
  public DistributedOnce once(String key) {
    Objects.requireNonNull(key, "key");
    return new EngineOnce(this, lock("once/" + key), key, DistributedOnce.DEFAULT_KEEP);
  }

  @Override
  public DistributedLatch latch(String name, int parties) {
    Objects.requireNonNull(name, "name");
    refuseIfClosed();
    checkParties("latch", parties, DistributedLatch.MAX_PARTIES);
    return new EngineLatch(
        this, name, LockName.of("latch/" + name), parties, DistributedLatch.DEFAULT_KEEP);
  }

  @Override
  public DistributedBarrier barrier(String name, int parties) {
    Objects.requireNonNull(name, "name");
    refuseIfClosed();
    checkParties("barrier", parties, DistributedBarrier.MAX_PARTIES);
    return new EngineBarrier(this, name, parties);
  }

  private static void checkParties(String what, int parties, int most) {
    if (parties < 1 || parties > most) {
      throw new IllegalArgumentException(
          "A %s has 1 to %s parties, not %s.".formatted(what, most, parties));
    }
  }

  @Override
  public void close() {
    waits.forEach(
        (number, wait) ->
            wait.completeExceptionally(
                new IllegalStateException("This lock client was closed while it waited.")));
  }

  LockStore store() {
    return store;
  }

  StoreCall storeCall() {
    return new StoreCall(store, refuseIfClosed);
  }

  FactClient facts() {
    return facts;
  }

  EngineEnv env() {
    return env;
  }

  String display() {
    return store.profile().display();
  }

  boolean keepsFacts() {
    return store.profile().can(Capability.FACTS);
  }

  DistributedLock lock(String name) {
    return locks.apply(name);
  }

  void refuseIfClosed() {
    refuseIfClosed.run();
  }

  /**
   * A random id that fits into documents and names. Begins with a letter: a part of a path that
   * begins with a minus sign would sort before the nodes of the lock above it in Curator's layout.
   */
  String newId() {
    byte[] bytes = new byte[ID_BYTES];
    env.random().nextBytes(bytes);
    bytes[0] &= FIRST_LETTERS;
    return Base64.getUrlEncoder().encodeToString(bytes);
  }

  /** The future, which ends with the client at the latest. */
  <T> CompletableFuture<T> endsWithClient(CompletableFuture<T> wait) {
    long number = lastWait.incrementAndGet();
    waits.put(number, wait);
    CompletableFuture<T> watched = wait.whenComplete((value, failure) -> waits.remove(number));
    assert watched != null;
    try {
      refuseIfClosed(); // The client may have been closed before this wait was added.
    } catch (IllegalStateException e) {
      wait.completeExceptionally(e);
    }
    return wait;
  }

  /** The future's outcome in another form. The end of the returned future cancels the other. */
  static <T, R> CompletableFuture<R> mapped(
      CompletableFuture<T> source, Function<? super T, ? extends R> form) {
    CompletableFuture<R> result = new CompletableFuture<>();
    CompletableFuture<T> told =
        source.whenComplete(
            (value, failure) -> {
              if (failure == null) {
                result.complete(form.apply(value));
              } else {
                result.completeExceptionally(failure);
              }
            });
    CompletableFuture<R> ended = result.whenComplete((value, failure) -> source.cancel(false));
    assert told != null && ended != null;
    return result;
  }

  /** The wait in nanoseconds; refuses negative times. */
  static long checkedWait(Duration wait) {
    if (Objects.requireNonNull(wait, "wait").isNegative()) {
      throw new IllegalArgumentException(
          "Cannot wait for %s. Give a time to wait that is not negative."
              .formatted(DurationText.format(wait)));
    }
    return (wait.compareTo(HOWEVER_LONG) > 0 ? HOWEVER_LONG : wait).toNanos();
  }

  /**
   * Checks a time to keep.
   *
   * @param what the name of the kept object
   * @param least the shortest time, in words
   */
  static Duration checkedKeep(String what, Duration time, Duration shortest, String least) {
    Objects.requireNonNull(time, "keep");
    if (time.compareTo(shortest) < 0 || time.compareTo(LONGEST_KEPT) > 0) {
      throw new IllegalArgumentException(
          "A %s cannot be kept for %s. Give %s to ten years."
              .formatted(what, DurationText.formatExact(time), least));
    }
    return time;
  }

  static void refuseIfInterrupted(String what) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("Interrupted before " + what + ".");
    }
  }

  /**
   * Waits for the future, and cancels it when this thread is interrupted. If it has ended by then,
   * its outcome counts, and the thread stays interrupted.
   */
  static <T> T join(CompletableFuture<T> future) throws InterruptedException {
    try {
      return future.get();
    } catch (InterruptedException e) {
      if (future.cancel(false)) {
        throw e;
      }
      Thread.currentThread().interrupt();
      try {
        return future.join(); // The future has ended, so this does not wait.
      } catch (CompletionException failure) {
        throw rethrown(failure);
      }
    } catch (ExecutionException e) {
      throw rethrown(e);
    }
  }

  /**
   * As {@link #join}, for a future that others may see before it ends: when this thread is
   * interrupted, it gives up, and waits for the outcome.
   *
   * @param giveUp leads to the end of the future; cancels it if no party has passed
   */
  static <T> T joinOutcome(CompletableFuture<T> future, Runnable giveUp)
      throws InterruptedException {
    try {
      return future.get();
    } catch (InterruptedException e) {
      giveUp.run();
      T outcome;
      try {
        outcome = future.join();
      } catch (CancellationException cancelled) {
        throw e;
      } catch (CompletionException failure) {
        Thread.currentThread().interrupt();
        throw rethrown(failure);
      }
      Thread.currentThread().interrupt();
      return outcome;
    } catch (ExecutionException e) {
      throw rethrown(e);
    }
  }

  private static RuntimeException rethrown(Throwable failure) {
    Throwable cause = cause(failure);
    if (cause instanceof RuntimeException known) {
      known.addSuppressed(new LockException("This thread waited for the result."));
      return known;
    }
    return new LockException("The wait failed: " + cause.getMessage(), cause);
  }

  /** The failure, without the exceptions in which futures wrap it. */
  static Throwable cause(Throwable failure) {
    boolean wrapped =
        failure instanceof CompletionException || failure instanceof ExecutionException;
    Throwable cause = failure.getCause();
    return wrapped && cause != null ? cause : failure;
  }
}
