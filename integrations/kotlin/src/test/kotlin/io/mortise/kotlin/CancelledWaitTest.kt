package io.mortise.kotlin

import io.mortise.DistributedLock
import io.mortise.Lease
import io.mortise.LockClient
import io.mortise.LockTimeoutException
import io.mortise.testserver.TestStore
import java.time.Duration
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.future.await
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/**
 * Coroutines that are cancelled while their grant arrives. Each round begins with an acquire of the same lock, which shows that the previous round left nothing.
 */
class CancelledWaitTest {
  @ParameterizedTest
  @EnumSource(names = ["MEMORY", "REDIS"])
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  fun `givenWaitingCoroutine_whenCancelledWhileItsGrantComesIn_thenNoGrantIsLeft`(store: TestStore) {
    race(store, Duration.ofSeconds(30)) { lock, granted -> lock.suspending().withLock { granted() } }
  }

  /** Positive control: the obvious way, which loses grants. */
  @Test
  fun `givenAwaitedFuture_whenRaced_thenTheNextRoundNoticesTheLostGrant`() {
    assertThatThrownBy {
        race(TestStore.MEMORY, Duration.ofMillis(500)) { lock, granted ->
          val lease: Lease = lock.acquireAsync().await()
          try {
            granted()
          } finally {
            lease.releaseAsync()
          }
        }
      }
      .isInstanceOf(LockTimeoutException::class.java)
  }

  private fun race(
    store: TestStore,
    limit: Duration,
    task: suspend (DistributedLock, suspend () -> Unit) -> Unit,
  ) = runBlocking {
    val url = store.newUrl()
    var grants = 0
    LockClient.connect(url).use { here ->
      LockClient.connect(url).use { there ->
        val lock = here.lock(NAME)
        // Moved until about half of the rounds are granted, so that the two meet.
        var delay = 0L
        for (round in 0 until ROUNDS) {
          val held = (if (round % 2 == 0) here else there).lock(NAME).acquireWithin(limit)
          val begun = AtomicBoolean()
          val waiting =
            launch(Dispatchers.Default, CoroutineStart.UNDISPATCHED) {
              task(lock) {
                begun.set(true)
                awaitCancellation()
              }
            }
          val release =
            launch(Dispatchers.Default) {
              spin(-delay)
              held.releaseAsync()
            }
          spin(delay)
          waiting.cancel()
          waiting.join()
          release.join()
          if (begun.get()) {
            grants++
            delay -= 500
          } else {
            delay += 500
          }
        }
        here.lock(NAME).acquireWithin(limit).close()
      }
    }
    assertThat(grants).`as`("rounds of both ends").isBetween(ROUNDS / 100, ROUNDS * 99 / 100)
    Unit
  }

  private fun spin(nanos: Long) {
    val end = System.nanoTime() + nanos
    while (System.nanoTime() < end) {
      if (end - System.nanoTime() > 100_000) LockSupport.parkNanos(50_000) else Thread.onSpinWait()
    }
  }

  private companion object {
    const val ROUNDS = 10_000
    const val NAME = "raced"
  }
}
