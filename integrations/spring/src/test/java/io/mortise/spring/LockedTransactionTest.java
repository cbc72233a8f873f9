package io.mortise.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The order of locks and transactions. Each event of a transaction records whether a lock is held.
 */
class LockedTransactionTest {
  private static final String NAME = "account";

  private SpringApp app;
  private Service service;
  private RecordingTransactionManager manager;
  private TransactionTemplate transaction;

  static class Service {
    @Transactional
    @Locked(NAME)
    void both() {}

    @Transactional
    @Locked(NAME)
    void bothFailing() {
      throw new IllegalStateException("the method's own");
    }

    @Locked(NAME)
    void untilCommit() {}

    @Locked(NAME)
    void untilCommitOf(Runnable task) {
      task.run();
    }

    @Locked(NAME)
    void failing() {
      throw new IllegalStateException("the method's own");
    }

    @Locked(value = NAME, until = Locked.Until.RETURN)
    void untilReturn(Runnable task) {
      task.run();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  static class Config {
    @Bean
    Service service() {
      return new Service();
    }

    @Bean
    RecordingTransactionManager transactions(LockClient locks) {
      return new RecordingTransactionManager(SpringApp.Probe.ofLock(locks, NAME));
    }
  }

  @BeforeEach
  void start() {
    app = SpringApp.start(Config.class);
    service = app.bean(Service.class);
    manager = app.bean(RecordingTransactionManager.class);
    transaction = new TransactionTemplate(app.bean(PlatformTransactionManager.class));
  }

  @AfterEach
  void close() {
    app.close();
  }

  @Test
  void givenTransactionalMethod_whenCalled_thenTheLockIsAroundTheTransaction() {
    service.both();
    assertThat(manager.events).containsExactly("begin held", "commit held");
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenTransactionalMethodThatFails_whenCalled_thenTheLockIsHeldDuringTheRollback() {
    assertThatThrownBy(service::bothFailing).hasMessage("the method's own");
    assertThat(manager.events).containsExactly("begin held", "rollback held");
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenTransactionOfTheCaller_whenTheMethodReturns_thenTheLockIsHeldUntilTheCommit() {
    transaction.executeWithoutResult(
        status -> {
          service.untilCommit();
          assertThat(app.isHeld(NAME)).isTrue();
          assertThat(LockContext.find()).isEmpty();
        });
    assertThat(manager.events).containsExactly("begin", "commit held");
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenTransactionOfTheCaller_whenItIsRolledBack_thenTheLockIsFreeAfterwards() {
    transaction.executeWithoutResult(
        status -> {
          assertThatThrownBy(service::failing).hasMessage("the method's own");
          assertThat(app.isHeld(NAME)).isTrue();
          status.setRollbackOnly();
        });
    assertThat(manager.events).containsExactly("begin", "rollback held");
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenUntilReturn_whenTheMethodReturns_thenTheLockIsFree() {
    transaction.executeWithoutResult(
        status -> {
          service.untilReturn(() -> assertThat(app.isHeld(NAME)).isTrue());
          assertThat(app.isHeld(NAME)).isFalse();
        });
    assertThat(manager.events).containsExactly("begin", "commit");
  }

  @Test
  void givenLockUntilCommit_whenItIsAskedForAgain_thenTheCallJoins() {
    transaction.executeWithoutResult(
        status -> {
          for (int i = 0; i < 3; i++) {
            service.untilCommit();
          }
          service.untilReturn(() -> assertThat(app.isHeld(NAME)).isTrue());
          assertThat(app.isHeld(NAME)).isTrue();
        });
    assertThat(manager.events).containsExactly("begin", "commit held");
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenLockUntilReturn_whenAnInnerCallWantsItUntilCommit_thenItIsHeldUntilCommit() {
    transaction.executeWithoutResult(
        status -> {
          service.untilReturn(service::untilCommit);
          assertThat(app.isHeld(NAME)).isTrue();
        });
    assertThat(manager.events).containsExactly("begin", "commit held");
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenLockOfAnOuterTransaction_whenAnInnerOneAsksForIt_thenItJoinsAndTheOuterEndsIt() {
    TransactionTemplate inner = new TransactionTemplate(manager);
    inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    transaction.executeWithoutResult(
        status -> {
          service.untilCommit();
          inner.executeWithoutResult(ignored -> service.untilCommit());
          assertThat(app.isHeld(NAME)).isTrue();
          service.untilCommit();
        });
    assertThat(manager.events).containsExactly("begin", "begin held", "commit held", "commit held");
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenLockOfAnInnerTransaction_whenItCommits_thenTheLockIsFree() {
    TransactionTemplate inner = new TransactionTemplate(manager);
    inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    transaction.executeWithoutResult(
        status -> {
          inner.executeWithoutResult(ignored -> service.untilCommit());
          assertThat(app.isHeld(NAME)).isFalse();
          try (Lease elsewhere = app.hold(NAME)) {
            assertThat(elsewhere.isValid()).isTrue();
          }
          service.untilCommit();
        });
    assertThat(manager.events).containsExactly("begin", "begin", "commit held", "commit held");
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenLockThatIsLost_whenTheTransactionIsToCommit_thenItIsRolledBack() {
    assertThatThrownBy(
            () ->
                transaction.executeWithoutResult(
                    status -> {
                      Lease[] lease = new Lease[1];
                      service.untilCommitOf(() -> lease[0] = LockContext.current().lease());
                      app.evict(NAME);
                      await().until(() -> !lease[0].isValid());
                    }))
        .isInstanceOf(LeaseLostException.class);
    assertThat(manager.events).containsExactly("begin", "rollback");
  }

  @Test
  void givenLostLeaseThatTheBodyClosed_whenTheTransactionIsToCommit_thenItIsRolledBack() {
    assertThatThrownBy(
            () ->
                transaction.executeWithoutResult(
                    status ->
                        service.untilCommitOf(
                            () -> {
                              Lease lease = LockContext.current().lease();
                              app.evict(NAME);
                              await().until(() -> !lease.isValid());
                              assertThatThrownBy(lease::close)
                                  .isInstanceOf(LeaseLostException.class);
                            })))
        .isInstanceOf(LeaseLostException.class);
    assertThat(manager.events).containsExactly("begin", "rollback");
  }

  @Test
  void givenLeaseThatTheBodyReleased_whenTheTransactionCommits_thenItDoes() {
    transaction.executeWithoutResult(
        status ->
            service.untilCommitOf(
                () -> {
                  LockContext.current().lease().close();
                  assertThat(app.isHeld(NAME)).isFalse();
                }));
    assertThat(manager.events).containsExactly("begin", "commit");
  }

  @Test
  void givenTemplate_whenATransactionIsActive_thenItHoldsUntilCommit() {
    LockTemplate template = LockTemplate.over(app.bean(LockClient.class));
    transaction.executeWithoutResult(
        status -> {
          try {
            template.withLock(NAME, () -> assertThat(app.isHeld(NAME)).isTrue());
            template
                .withUntil(Locked.Until.RETURN)
                .withLocks(List.of("b", "c"), () -> assertThat(app.isHeld("c")).isTrue());
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
          assertThat(app.isHeld(NAME)).isTrue();
          assertThat(app.isHeld("c")).isFalse();
        });
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(order = 0)
  static class TransactionsOutside {
    @Bean
    Service service() {
      return new Service();
    }

    @Bean
    RecordingTransactionManager transactions(LockClient locks) {
      return new Config().transactions(locks);
    }
  }

  @Test
  void givenTransactionsOutsideOfLocks_whenCalled_thenTheLockIsStillHeldAtTheCommit() {
    try (SpringApp outside = SpringApp.start(TransactionsOutside.class)) {
      outside.bean(Service.class).both();
      assertThat(outside.bean(RecordingTransactionManager.class).events)
          .containsExactly("begin", "commit held");
      assertThat(outside.isHeld(NAME)).isFalse();
    }
  }

  /**
   * A pool's thread outlives the application: objects that it keeps stay in memory, with the class
   * loader.
   */
  @Test
  void givenThreadOfAPool_whenItsTransactionHasEnded_thenTheThreadKeepsNoLease() throws Exception {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try {
      WeakReference<Lease> lease =
          executor
              .submit(
                  () -> {
                    AtomicReference<WeakReference<Lease>> seen = new AtomicReference<>();
                    transaction.executeWithoutResult(
                        status ->
                            service.untilCommitOf(
                                () ->
                                    seen.set(new WeakReference<>(LockContext.current().lease()))));
                    return seen.get();
                  })
              .get();
      await()
          .until(
              () -> {
                System.gc();
                return lease.refersTo(null);
              });
    } finally {
      executor.shutdownNow();
    }
  }
}
