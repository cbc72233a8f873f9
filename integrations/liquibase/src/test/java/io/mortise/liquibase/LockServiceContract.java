package io.mortise.liquibase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.TestStore;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import liquibase.database.Database;
import liquibase.exception.LockException;
import liquibase.lockservice.DatabaseChangeLogLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of a lock service: two processes migrate one database. */
abstract class LockServiceContract {
  private final TestStore store;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private String url;
  private String database;
  private LockClient here;
  private Database connected;
  private MortiseLockService service;
  private MortiseLockService other;

  LockServiceContract(TestStore store) {
    this.store = store;
  }

  @BeforeEach
  void open() throws Exception {
    url = store.newUrl();
    database = SampleDatabase.newUrl();
    here = connect("first pod");
    connected = database(database);
    service = service(here, connected);
    other = service(connect("second pod"), database(database));
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
    opened.clear();
  }

  private LockClient connect(String name) {
    LockClient client = LockClient.builder().url(url).name(name).build();
    opened.add(client);
    return client;
  }

  private Database database(String url) throws Exception {
    Database database = SampleDatabase.open(url);
    opened.add(
        () -> {
          if (!database.getConnection().isClosed()) {
            database.close();
          }
        });
    return database;
  }

  private static MortiseLockService service(LockClient client, Database database) {
    MortiseLockService service = new MortiseLockService(ClientSource.shared(client));
    service.setDatabase(database);
    return service;
  }

  @Test
  void givenHolder_thenNoOtherRunGetsTheLock_untilItIsReleased() throws Exception {
    assertThat(service.hasChangeLogLock()).isFalse();
    assertThat(service.acquireLock()).isTrue();
    assertThat(service.hasChangeLogLock()).isTrue();
    assertThat(service.acquireLock()).as("held already").isTrue();
    service.waitForLock();
    assertThat(other.acquireLock()).isFalse();
    assertThat(other.hasChangeLogLock()).isFalse();
    service.reset();
    assertThat(other.acquireLock()).as("after a reset of the holder").isFalse();
    service.releaseLock();
    service.releaseLock();
    assertThat(service.hasChangeLogLock()).isFalse();
    assertThat(other.acquireLock()).isTrue();
    other.releaseLock();
  }

  @Test
  void givenServiceThatLiquibaseForgot_whenAnotherOneOfTheSameDatabaseReleases_thenItIsFree()
      throws Exception {
    assertThat(service.acquireLock()).isTrue();
    MortiseLockService next = service(here, connected);
    assertThat(next.hasChangeLogLock()).isTrue();
    next.releaseLock();
    assertThat(service.hasChangeLogLock()).isFalse();
    assertThat(other.acquireLock()).isTrue();
    other.releaseLock();
  }

  @Test
  void givenRunThatSkipsItsRelease_whenItsConnectionIsClosed_thenTheLockIsFree() throws Exception {
    assertThat(service.acquireLock()).isTrue();
    connected.close();
    await().atMost(BoundedWait.scaled(BoundedWait.ANSWER)).until(other::acquireLock);
    assertThat(service.hasChangeLogLock()).isFalse();
    other.releaseLock();
  }

  @Test
  void givenWaiter_whenTheHolderReleases_thenTheWaiterHolds() throws Exception {
    service.waitForLock();
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try {
      Future<?> waiter =
          thread.submit(
              () -> {
                other.waitForLock();
                return null;
              });
      awaitWaiter();
      service.releaseLock();
      waiter.get(60, TimeUnit.SECONDS);
      assertThat(other.hasChangeLogLock()).isTrue();
      other.releaseLock();
    } finally {
      thread.shutdownNow();
    }
  }

  @Test
  void givenWaiter_whenInterrupted_thenItEnds_andKeepsTheFlag() throws Exception {
    service.waitForLock();
    ExecutorService threads = Executors.newSingleThreadExecutor();
    try {
      Future<Boolean> waiter =
          threads.submit(
              () -> {
                assertThatThrownBy(other::waitForLock).isInstanceOf(LockException.class);
                return Thread.interrupted();
              });
      awaitWaiter();
      threads.shutdownNow();
      assertThat(waiter.get(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      threads.shutdownNow();
    }
    service.releaseLock();
    assertThat(other.acquireLock()).isTrue();
    other.releaseLock();
  }

  @Test
  void givenNoTimeToWait_thenTheMessageTellsTheHolder() throws Exception {
    service.waitForLock();
    other.setChangeLogLockWaitTime(0);
    other.setChangeLogLockRecheckTime(1);
    assertThatThrownBy(other::waitForLock)
        .isInstanceOf(LockException.class)
        .hasMessageContaining("first pod")
        .hasMessageContaining(SampleDatabase.lockName(database));
    service.releaseLock();
  }

  @Test
  void givenHolder_whenListed_thenItIsShown_andNobodyOtherwise() throws Exception {
    assertThat(other.listLocks()).isEmpty();
    service.waitForLock();
    DatabaseChangeLogLock[] locks = other.listLocks();
    assertThat(locks).hasSize(1);
    assertThat(locks[0].getLockedBy()).contains("first pod");
    assertThat(locks[0].getLockGranted().toInstant()).isBeforeOrEqualTo(Instant.now());
    service.releaseLock();
    assertThat(other.listLocks()).isEmpty();
  }

  @Test
  void givenHolder_whenTheLockIsForced_thenItsConnectionEnds_andTheOtherGetsTheLock()
      throws Exception {
    service.waitForLock();
    other.forceReleaseLock();
    await()
        .atMost(BoundedWait.scaled(BoundedWait.ANSWER))
        .until(() -> !service.hasChangeLogLock() && connected.getConnection().isClosed());
    assertThatThrownBy(service::releaseLock)
        .isInstanceOf(LockException.class)
        .hasMessageContaining("evicted");
    service.releaseLock();
    other.waitForLock();
    other.releaseLock();
    other.forceReleaseLock();
  }

  @Test
  void givenProcessThatDied_thenTheNextRunGetsTheLock() throws Exception {
    LockClient dying = connect("third pod");
    assertThat(service(dying, database(database)).acquireLock()).isTrue();
    assertThat(service.acquireLock()).isFalse();
    dying.close();
    service.waitForLock();
    service.releaseLock();
    assertThatThrownBy(() -> service(dying, connected).acquireLock())
        .isInstanceOf(LockException.class);
  }

  @Test
  void givenTwoDatabases_thenTheirLocksAreIndependent() throws Exception {
    service.waitForLock();
    MortiseLockService third = service(here, database(SampleDatabase.newUrl()));
    assertThat(third.acquireLock()).isTrue();
    third.releaseLock();
    service.releaseLock();
  }

  private void awaitWaiter() {
    await()
        .atMost(BoundedWait.scaled(BoundedWait.ANSWER))
        .until(
            () ->
                here.admin().find(SampleDatabase.lockName(database)).stream()
                    .anyMatch(lock -> !lock.waiters().isEmpty()));
  }
}
