package io.mortise.jdbc.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.LockRepository;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.time.Ticker;
import io.mortise.testkit.ManualTime;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a connection is cut on which something takes too long. */
class TransactionRunnerTest {
  private static final Duration LIMIT = Duration.ofMillis(400);

  @TempDir Path directory;

  private final CountDownLatch aborted = new CountDownLatch(1);
  private final AtomicInteger aborts = new AtomicInteger();
  private final CountDownLatch testIsOver = new CountDownLatch(1);
  private final ManualTime time = new ManualTime();
  private Duration connectTime = Duration.ZERO;

  @AfterEach
  void end() {
    testIsOver.countDown();
  }

  @Test
  void givenApplicationThatOccupiesTheCommonPool_whenAnActionHangs_thenItsConnectionIsCut()
      throws Exception {
    ForkJoinPool pool = ForkJoinPool.commonPool();
    for (int i = 0; i < pool.getParallelism(); i++) {
      pool.execute(this::awaitEnd);
    }
    try (Database database = database()) {
      TransactionRunner transactionRunner =
          new TransactionRunner(database, Ticker.SYSTEM, new ReentrantLock());
      assertThat(
              transactionRunner.attemptRead(
                  storeConnection -> assertThat(awaited(aborted)).isTrue()))
          .isNull();
      transactionRunner.end();
      // The abort blocks still, and holds up nobody else.
      CompletableFuture.runAsync(
              () -> {}, CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS, Runnable::run))
          .get(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void givenAbortThatBlocks_whenItsActionGoesOn_thenItIsAbortedOnce() {
    try (Database database = database()) {
      TransactionRunner transactionRunner =
          new TransactionRunner(database, Ticker.SYSTEM, new ReentrantLock());
      assertThat(
              transactionRunner.attemptRead(
                  storeConnection -> {
                    assertThat(awaited(aborted)).isTrue();
                    // Six more looks.
                    assertThat(acquired(new Semaphore(0), 1, LIMIT.dividedBy(8).multipliedBy(6)))
                        .isFalse();
                  }))
          .isNull();
      transactionRunner.end();
      assertThat(aborts).hasValue(1);
    }
  }

  @Test
  void givenConnectionThatTookLongToMake_thenTheFirstActionHasItsWholeTime() {
    Semaphore looks = new Semaphore(0);
    Thread own = Thread.currentThread();
    Ticker ticker =
        () -> {
          if (Thread.currentThread() != own) {
            looks.release();
          }
          return time.nanos();
        };
    try (Database database = database()) {
      TransactionRunner transactionRunner =
          new TransactionRunner(database, ticker, new ReentrantLock());
      assertThat(transactionRunner.attemptRead(StoreConnection::now)).isNull();
      transactionRunner.detach();
      connectTime = LIMIT;
      assertThat(
              transactionRunner.attemptRead(
                  storeConnection -> {
                    looks.drainPermits();
                    assertThat(acquired(looks, 3, Duration.ofSeconds(20))).isTrue();
                  }))
          .isNull();
      transactionRunner.end();
      assertThat(aborted.getCount()).isEqualTo(1);
    }
  }

  private Database database() {
    return new ConnectionExecutorTest.CallerHelpedDatabase(
        ConnectionExecutorTest.database(directory.resolve("runner.db"))) {
      @Override
      public StoreProfile profile() {
        StoreProfile profile = super.profile();
        return new StoreProfile(
            profile.display(),
            profile.capabilities(),
            LIMIT,
            profile.minTtl(),
            profile.expiryLag());
      }

      @Override
      public StoreConnection connect() throws SQLException {
        time.advance(connectTime);
        Connection connection =
            abortable(DriverManager.getConnection(ConnectionExecutorTest.MEMORY));
        return new StoreConnection(
            connection,
            new LockRepository(connection, ConnectionExecutorTest.TEXT, "default"),
            new ConnectionExecutorTest.NoTransactions());
      }
    };
  }

  /** Its abort blocks, as that of a driver may. */
  private Connection abortable(Connection connection) {
    return (Connection)
        Proxy.newProxyInstance(
            TransactionRunnerTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("abort")) {
                aborts.incrementAndGet();
                aborted.countDown();
                awaitEnd();
                return null;
              }
              return method.invoke(connection, arguments);
            });
  }

  private void awaitEnd() {
    try {
      testIsOver.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean awaited(CountDownLatch latch) {
    try {
      return latch.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean acquired(Semaphore semaphore, int permits, Duration wait) {
    try {
      return semaphore.tryAcquire(permits, wait.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
