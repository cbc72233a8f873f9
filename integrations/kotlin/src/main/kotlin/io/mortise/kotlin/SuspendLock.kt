package io.mortise.kotlin

import io.mortise.DistributedLock
import io.mortise.Lease
import java.util.concurrent.CompletableFuture
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.future.await
import kotlinx.coroutines.job
import kotlinx.coroutines.withContext

/**
 * The same lock for suspend functions. A type of its own, as `withLock { … }` of [DistributedLock]
 * blocks the thread, and Kotlin would prefer it over an extension of that name.
 */
public fun DistributedLock.suspending(): SuspendLock = SuspendLock(this)

/**
 * A lock around a block of suspend functions. No thread is blocked, and the lease belongs to no
 * thread: the block may resume on any.
 *
 * Cancelling a coroutine that waits gives the attempt up, and a grant that arrives at the same time
 * is released. Cancelling the block releases the lock before the cancellation goes on. If the lease
 * is lost, the block's scope is cancelled and `LeaseLostException` is thrown.
 *
 * Not re-entrant: a block that takes the same lock again deadlocks. Immutable and
 * thread-safe.
 */
public class SuspendLock(private val lock: DistributedLock) {
  /** The lock's name. */
  public val name: String
    get() = lock.name()

  /**
   * Acquires, runs the block, releases, and waits for the store's answer to that.
   *
   * @param wait at most that long; zero tries once; null has no limit
   * @param block runs in a scope of its own, which ends before the release: coroutines that it
   *   launches there run under the lock
   * @throws io.mortise.LockTimeoutException if the lock could not be acquired in time; the block has not
   *   run
   * @throws io.mortise.StoreUnavailableException if the time is over and the store did not answer
   * @throws io.mortise.LeaseLostException if the lease was lost meanwhile; suppressed if the block
   *   threw
   * @throws IllegalArgumentException if the time is negative
   */
  public suspend fun <T> withLock(
    wait: Duration? = null,
    block: suspend CoroutineScope.(Lease) -> T,
  ): T {
    currentCoroutineContext().ensureActive()
    val lease =
      acquired(if (wait == null) lock.acquireAsync() else lock.acquireAsync(wait.toJavaDuration()))
    var failure: Throwable? = null
    try {
      return guarded(lease, block)
    } catch (e: Throwable) {
      failure = e
      throw e
    } finally {
      withContext(NonCancellable) { release(lease, failure) }
    }
  }

  /**
   * The attempt's value would be lost when the coroutine is cancelled: a cancellation between the grant and the coroutine's next step discards it. The future keeps it.
   */
  private suspend fun acquired(attempt: CompletableFuture<Lease>): Lease =
    try {
      attempt.await()
    } catch (e: Throwable) {
      if (!attempt.cancel(true) && !attempt.isCompletedExceptionally) {
        attempt.join().releaseAsync()
      }
      throw e
    }

  /** A child of the scope that fails with the loss cancels it at once, on no thread of its own. */
  private suspend fun <T> guarded(lease: Lease, block: suspend CoroutineScope.(Lease) -> T): T =
    coroutineScope {
      val held = Job(coroutineContext.job)
      lease.onLost { loss -> held.completeExceptionally(loss) }
      try {
        lease.ensureValid()
        // Not in this scope: its end waits for the coroutines that the block has launched.
        coroutineScope { block(lease) }
      } finally {
        held.complete()
      }
    }

  private suspend fun release(lease: Lease, failure: Throwable?) {
    try {
      lease.releaseAsync().await()
    } catch (loss: Throwable) {
      if (failure == null) {
        throw loss
      }
      if (loss !== failure) {
        failure.addSuppressed(loss)
      }
    }
  }
}
