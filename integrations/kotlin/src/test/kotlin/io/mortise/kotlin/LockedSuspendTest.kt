package io.mortise.kotlin

import io.mortise.FencingToken
import io.mortise.LeaseLostException
import io.mortise.LockClient
import io.mortise.admin.Eviction
import io.mortise.spring.EnableMortise
import io.mortise.spring.InvalidLockedMethodException
import io.mortise.spring.Locked
import io.mortise.spring.ReactiveLockContext
import io.mortise.testserver.TestStore
import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicInteger
import java.util.function.Supplier
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.emptyFlow
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.springframework.context.annotation.AnnotationConfigApplicationContext
import org.springframework.context.annotation.Configuration

/** Suspend functions under `@Locked`, which mortise-spring serves without this module. */
class LockedSuspendTest {
  @Configuration @EnableMortise open class Application

  open class Invoices(private val locks: LockClient) {
    open val begun = CompletableDeferred<Unit>()
    private val inside = AtomicInteger()

    @Locked("invoice/#{#id}")
    open suspend fun pay(id: Int): FencingToken {
      assertThat(inside.incrementAndGet()).isEqualTo(1)
      delay(5)
      inside.decrementAndGet()
      assertThat(locks.lock("invoice/$id").tryAcquire()).isEmpty()
      return ReactiveLockContext.current().awaitSingle().fencingToken()
    }

    @Locked("invoice/#{#id}")
    open suspend fun fail(id: Int) {
      delay(1)
      throw IllegalArgumentException("of $id")
    }

    @Locked("invoice/#{#id}")
    open suspend fun stay(id: Int) {
      begun.complete(Unit)
      awaitCancellation()
    }

    @Locked("invoice/#{#id}", waitFor = "0", ifBusy = Locked.IfBusy.SKIP)
    open suspend fun skip(id: Int): String? = "run $id"
  }

  open class SkipsWithoutNull {
    @Locked("a", ifBusy = Locked.IfBusy.SKIP) open suspend fun run(): String = "run"
  }

  open class ReturnsFlow {
    @Locked("a") open suspend fun run(): Flow<String> = emptyFlow()
  }

  open class ReturnsFuture {
    @Locked("a")
    open suspend fun run(): CompletableFuture<String> = CompletableFuture.completedFuture("")
  }

  private lateinit var locks: LockClient
  private lateinit var context: AnnotationConfigApplicationContext
  private lateinit var invoices: Invoices

  @BeforeEach
  fun open() {
    locks = LockClient.connect(TestStore.MEMORY.newUrl())
    context = application(Invoices(locks))
    context.refresh()
    invoices = context.getBean(Invoices::class.java)
  }

  private inline fun <reified T : Any> application(bean: T): AnnotationConfigApplicationContext {
    val application = AnnotationConfigApplicationContext()
    application.register(Application::class.java)
    application.registerBean(LockClient::class.java, Supplier { locks })
    application.registerBean(T::class.java, Supplier { bean })
    return application
  }

  @AfterEach
  fun close() {
    context.close()
    locks.close()
  }

  private fun isFree(name: String) =
    locks
      .lock(name)
      .tryAcquire()
      .map {
        it.close()
        true
      }
      .orElse(false)

  @Test
  fun `givenCallsAtOnce_thenTheyRunOneAfterTheOther_withATokenEach`() {
    val tokens = runBlocking(Dispatchers.Default) {
      coroutineScope {
        val all = java.util.concurrent.ConcurrentLinkedQueue<Long>()
        repeat(8) { launch { all.add(invoices.pay(42).value()) } }
        all
      }
    }
    assertThat(tokens).hasSize(8).doesNotHaveDuplicates()
    assertThat(isFree("invoice/42")).isTrue()
  }

  @Test
  fun `givenFunctionThatFails_orIsCancelled_thenTheLockIsFree`() {
    assertThatThrownBy { runBlocking { invoices.fail(7) } }
      .isInstanceOf(IllegalArgumentException::class.java)
      .hasMessage("of 7")
    assertThat(isFree("invoice/7")).isTrue()
    runBlocking(Dispatchers.Default) {
      val running = launch { invoices.stay(8) }
      invoices.begun.await()
      assertThat(isFree("invoice/8")).isFalse()
      running.cancelAndJoin()
    }
    await().until { isFree("invoice/8") }
  }

  @Test
  fun `givenLostLock_thenTheCallerIsTold`() {
    assertThatThrownBy {
        runBlocking(Dispatchers.Default) {
          launch {
            invoices.begun.await()
            val holder = locks.admin().find("invoice/9").orElseThrow().holders().get(0)
            locks.admin().evict("invoice/9", holder.attempt(), Eviction.BREAK)
          }
          invoices.stay(9)
        }
      }
      .isInstanceOf(LeaseLostException::class.java)
  }

  @Test
  fun `givenBusyLock_whenSkipped_thenTheResultIsNull`() {
    locks.lock("invoice/1").acquire().use {
      assertThat(runBlocking { invoices.skip(1) }).isNull()
    }
    assertThat(runBlocking { invoices.skip(1) }).isEqualTo("run 1")
  }

  @Test
  fun `givenFunctionsThatCannotWork_thenEachIsRefusedAtStart`() {
    refused(SkipsWithoutNull(), "SKIP has nothing to return")
    refused(ReturnsFlow(), "Flow")
    refused(ReturnsFuture(), "CompletableFuture")
  }

  private inline fun <reified T : Any> refused(bean: T, why: String) {
    application(bean).use { application ->
      assertThatThrownBy { application.refresh() }
        .hasStackTraceContaining(InvalidLockedMethodException::class.java.name)
        .hasStackTraceContaining(why)
    }
  }
}
