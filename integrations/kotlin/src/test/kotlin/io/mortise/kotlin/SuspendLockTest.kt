package io.mortise.kotlin

import io.mortise.Lease
import io.mortise.LeaseLostException
import io.mortise.LockClient
import io.mortise.LockTimeoutException
import io.mortise.admin.Eviction
import io.mortise.testserver.TestStore
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test

class SuspendLockTest {
  private lateinit var locks: LockClient
  private lateinit var lock: SuspendLock

  @BeforeEach
  fun open() {
    locks = LockClient.connect(TestStore.MEMORY.newUrl())
    lock = locks.lock(NAME).suspending()
  }

  @AfterEach
  fun close() {
    locks.close()
  }

  private fun isFree(): Boolean = locks.lock(NAME).tryAcquire().map { it.close(); true }.orElse(false)

  private fun <T> bounded(block: suspend kotlinx.coroutines.CoroutineScope.() -> T): T =
    runBlocking(Dispatchers.Default) { withTimeout(30.seconds, block) }

  @Test
  fun `givenBlock_whenRun_thenItHoldsTheLockOnWhateverThread_andItsValueIsReturned`() {
    val value = bounded {
      lock.withLock(5.seconds) { lease ->
        withContext(Dispatchers.IO) { delay(1.milliseconds) }
        assertThat(lease.isValid).isTrue()
        assertThat(isFree()).isFalse()
        "done"
      }
    }
    assertThat(value).isEqualTo("done")
    assertThat(lock.name).isEqualTo(NAME)
    assertThat(isFree()).isTrue()
  }

  @Test
  fun `givenHeldLock_whenTriedOnce_thenItTimesOut_andTheBlockHasNotRun`() {
    val run = AtomicBoolean()
    locks.lock(NAME).acquire().use {
      assertThatThrownBy { bounded { lock.withLock(Duration.ZERO) { run.set(true) } } }
        .isInstanceOf(LockTimeoutException::class.java)
    }
    assertThat(run).isFalse()
  }

  @Test
  fun `givenBlockThatFails_thenItsFailureIsThrown_andTheLockIsFree`() {
    assertThatThrownBy { bounded { lock.withLock { throw IllegalArgumentException("block") } } }
      .isInstanceOf(IllegalArgumentException::class.java)
      .hasMessage("block")
    assertThat(isFree()).isTrue()
  }

  @Test
  fun `givenRunningBlock_whenCancelled_thenTheLockIsFreeBeforeTheCancellationGoesOn`() {
    bounded {
      val begun = CompletableDeferred<Unit>()
      val running = launch {
        lock.withLock {
          begun.complete(Unit)
          awaitCancellation()
        }
      }
      begun.await()
      assertThat(isFree()).isFalse()
      running.cancelAndJoin()
      assertThat(isFree()).isTrue()
    }
  }

  @Test
  fun `givenCoroutineThatTheBlockLaunched_whenTheBlockEnds_thenTheLockIsHeldUntilItEnds`() {
    bounded {
      val goOn = CompletableDeferred<Unit>()
      val locked = launch { lock.withLock { launch { goOn.await() } } }
      while (isFree()) {
        delay(1.milliseconds)
      }
      assertThat(locked.isActive).isTrue()
      goOn.complete(Unit)
      locked.join()
      assertThat(isFree()).isTrue()
    }
  }

  @Test
  fun `givenLostLease_thenTheBlockIsCancelled_andTheLossIsThrown_andTheCallerGoesOn`() {
    val cancelled = AtomicBoolean()
    bounded {
      val loss =
        runCatching {
            lock.withLock {
              evict()
              try {
                awaitCancellation()
              } finally {
                cancelled.set(true)
              }
            }
          }
          .exceptionOrNull()
      assertThat(loss).isInstanceOf(LeaseLostException::class.java)
      delay(1.milliseconds)
    }
    assertThat(cancelled).isTrue()
  }

  @Test
  fun `givenBlockThatIgnoresALoss_whenItReturns_thenTheLossIsThrown`() {
    assertThatThrownBy {
        bounded {
          lock.withLock { lease: Lease ->
            evict()
            while (lease.isValid) {
              Thread.onSpinWait()
            }
          }
        }
      }
      .isInstanceOf(LeaseLostException::class.java)
  }

  @Test
  fun `givenCancelledCoroutine_whenItAsksForTheLock_thenNothingIsAcquired`() {
    bounded {
      val job = launch {
        val self = this
        self.coroutineContext[kotlinx.coroutines.Job]!!.cancel()
        lock.withLock { throw AssertionError("it runs") }
      }
      job.join()
      assertThat(isFree()).isTrue()
    }
  }

  private fun evict() {
    val holder = locks.admin().find(NAME).orElseThrow().holders().get(0)
    locks.admin().evict(NAME, holder.attempt(), Eviction.BREAK)
  }

  private companion object {
    const val NAME = "invoice/42"
  }
}
