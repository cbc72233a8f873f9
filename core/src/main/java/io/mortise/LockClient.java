package io.mortise;

import io.mortise.admin.LockAdmin;
import io.mortise.annotation.Beta;
import io.mortise.function.CheckedConsumer;
import io.mortise.recipe.DistributedBarrier;
import io.mortise.recipe.DistributedLatch;
import java.util.ServiceLoader;

/**
 * A process's access to the locks of one store. One per store and process is enough; thread-safe.
 *
 * <p>Lock names are 1 to 512 bytes of UTF-8 without control characters; for any other name a method
 * throws {@link IllegalArgumentException}, before anything is sent. After {@link #close()} all
 * methods throw {@link IllegalStateException}.
 */
public interface LockClient extends AutoCloseable {
  /**
   * Connects with the defaults of {@link #builder()}. Blocks.
   *
   * @throws IllegalArgumentException if no store knows the URL, a parameter of it is unknown or
   *     wrong, or the store cannot keep sessions of the default TTL
   * @throws StoreUnavailableException if the store cannot be reached
   * @throws StoreUnfitException if it is reachable but must not be used as it is
   */
  static LockClient connect(String url) {
    return builder().url(url).build();
  }

  /** Connects with settings of your own, or over a store of your own. */
  static LockClientBuilder builder() {
    return ServiceLoader.load(LockClientBuilder.class, LockClientBuilder.class.getClassLoader())
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "The engine of mortise-core is missing. A shaded jar must merge the files of"
                        + " META-INF/services."));
  }

  /** An exclusive lock: the write side of the read/write lock of that name. */
  DistributedLock lock(String name);

  /** An exclusive lock with options. */
  default DistributedLock lock(String name, LockOptions options) {
    return lock(name).with(options);
  }

  /** A read/write lock. */
  DistributedReadWriteLock readWriteLock(String name);

  /**
   * A semaphore. All clients that use the name must give the same number of permits.
   *
   * @throws IllegalArgumentException if it is below 1 or above 999,999
   */
  DistributedSemaphore semaphore(String name, int permits);

  /**
   * A group of these locks, acquired all or none.
   *
   * @throws IllegalArgumentException if there is no name, or one twice
   */
  LockGroup allOf(String... names);

  /**
   * Stands for leadership with {@link LeaderOptions#DEFAULTS}; see {@link #leader(String,
   * LeaderOptions, CheckedConsumer)}.
   */
  default Leadership leader(
      String name, CheckedConsumer<? super Leadership.Term, ? extends Exception> task) {
    return leader(name, LeaderOptions.DEFAULTS, task);
  }

  /**
   * Stands for the leadership of a name, and runs the task whenever this client leads. Returns at
   * once. Of all candidates one leads at a time.
   *
   * <p>The task runs on a daemon thread of its own, until it returns. It is interrupted there if
   * the leadership is lost or is to be given up, and must then return soon. A task that loops
   * checks {@link Leadership.Term#isLeading()}. The lock is released after the task has ended,
   * never before; another candidate follows at once, or, after a crash, when the TTL is over.
   *
   * <p>After a loss the candidate queues again at once. A task that returns or throws gives the
   * leadership up; the candidate then queues again after a pause of 100 ms, which doubles up to 10
   * s with each term shorter than 10 s. No exception ends a candidacy: exceptions of the task are
   * logged, and kept as {@link Leadership#lastFailure()}.
   *
   * <p>{@link #close()} asks all candidates to stop, and waits a few seconds for their tasks.
   */
  Leadership leader(
      String name,
      LeaderOptions options,
      CheckedConsumer<? super Leadership.Term, ? extends Exception> task);

  /**
   * Work to be done once for a key among all processes.
   *
   * @throws IllegalArgumentException if {@code once/<key>} is no lock name
   */
  @Beta
  DistributedOnce once(String key);

  /**
   * A latch that opens when the given number of parties have counted down. All clients that use the
   * name must give the same number.
   *
   * @throws IllegalArgumentException if there are less than 1 or more than {@link
   *     DistributedLatch#MAX_PARTIES} parties, or if {@code latch/<name>} is no lock name
   */
  @Beta
  DistributedLatch latch(String name, int parties);

  /**
   * A barrier at which the given number of parties wait for each other. All clients that use the
   * name must give the same number.
   *
   * @throws IllegalArgumentException if there are less than 1 or more than {@link
   *     DistributedBarrier#MAX_PARTIES} parties, or if the name is longer than 450 bytes or no lock
   *     name
   */
  @Beta
  DistributedBarrier barrier(String name, int parties);

  /**
   * Reads the store's locks, and ends holds and waits of other clients. Does not block by itself.
   */
  LockAdmin admin();

  /**
   * Releases everything. Interrupts tasks of leaders and waits for them, for 5 s at most; then
   * waits for the store's answers, for 5 s at most. Leases still open are lost then, and futures
   * that are not complete are completed.
   *
   * <p>Finally closes the connections, at once if the store answers. To a silent database this
   * takes up to twice its {@code max-in-flight} plus 6 s, 16 s by default.
   */
  @Override
  void close();
}
