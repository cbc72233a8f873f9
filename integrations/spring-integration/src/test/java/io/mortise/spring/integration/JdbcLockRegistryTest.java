package io.mortise.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.util.UUIDConverter;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * Statements of the page from-spring-integration.md on Spring Integration's own registry for
 * databases. If a test fails here, that registry has changed, and the page must follow.
 */
@SuppressWarnings("LockNotBeforeTry") // The database is gone after the test.
class JdbcLockRegistryTest {
  /** As Spring Integration's script for H2 has it. */
  static final String TABLE =
      "create table int_lock (lock_key char(36) not null, region varchar(100) not null,"
          + " client_id char(36), created_date timestamp not null, expired_after timestamp"
          + " not null, primary key (lock_key, region))";

  private static final Duration MINUTE = Duration.ofMinutes(1);

  private DriverManagerDataSource database;

  @BeforeEach
  void createTable() {
    database =
        new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
    new JdbcTemplate(database).execute(TABLE);
  }

  private JdbcLockRegistry registry(Duration ttl) {
    return registry(new DefaultLockRepository(database), ttl);
  }

  private JdbcLockRegistry registry(DefaultLockRepository repository, Duration ttl) {
    repository.setTransactionManager(new JdbcTransactionManager(database));
    repository.afterPropertiesSet();
    repository.afterSingletonsInstantiated();
    return new JdbcLockRegistry(repository, ttl);
  }

  @Test
  void givenTwoKeysThatShareALocalLock_whenTheInnerIsUnlocked_thenItStaysLockedInTheDatabase() {
    JdbcLockRegistry registry = registry(MINUTE);
    JdbcLockRegistry other = registry(MINUTE);
    String outer = "order-0";
    String inner = "";
    for (int i = 1; stripe(inner) != stripe(outer); i++) {
      inner = "customer-" + i;
    }
    registry.obtain(outer).lock();
    registry.obtain(inner).lock();
    registry.obtain(inner).unlock();
    registry.obtain(outer).unlock();
    assertThat(other.obtain(outer).tryLock()).isTrue();
    assertThat(other.obtain(inner).tryLock()).as("nobody holds it").isFalse();
  }

  private static int stripe(String key) {
    return UUIDConverter.getUUID(key).toString().hashCode() & 0xff;
  }

  @Test
  void givenHoldBeyondItsTime_whenLockedAgain_thenItIsTakenAnew_andTheHolderIsNotTold() {
    Lock lock = registry(Duration.ofMillis(50)).obtain("key");
    Lock next = registry(MINUTE).obtain("key");
    lock.lock();
    await().pollInSameThread().until(next::tryLock);
    next.unlock();
    lock.lock();
    lock.unlock();
    lock.unlock();
  }

  @Test
  void givenHoldBeyondItsTime_whenUnlocked_thenTheHolderIsTold() {
    Lock lock = registry(Duration.ofMillis(50)).obtain("key");
    lock.lock();
    await().until(() -> registry(MINUTE).obtain("key").tryLock());
    assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
  }

  @Test
  void givenWaiterOfLock_whenInterrupted_thenTheInterruptIsLost() throws Exception {
    Lock held = registry(MINUTE).obtain("key");
    held.lock();
    CountDownLatch foundHeld = new CountDownLatch(1);
    DefaultLockRepository noting =
        new DefaultLockRepository(database) {
          @Override
          public boolean acquire(String key, Duration ttl) {
            boolean acquired = super.acquire(key, ttl);
            foundHeld.countDown();
            return acquired;
          }
        };
    Lock lock = registry(noting, MINUTE).obtain("key");
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try {
      Future<Boolean> flag =
          thread.submit(
              () -> {
                Thread.currentThread().interrupt();
                lock.lock();
                return Thread.interrupted();
              });
      foundHeld.await();
      held.unlock();
      assertThat(flag.get(60, TimeUnit.SECONDS)).isFalse();
    } finally {
      thread.shutdownNow();
    }
  }
}
