package io.mortise.liquibase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.admin.LockQuery;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.TestStore;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import liquibase.Contexts;
import liquibase.Liquibase;
import liquibase.database.Database;
import liquibase.lockservice.LockServiceFactory;
import liquibase.lockservice.StandardLockService;
import liquibase.resource.ClassLoaderResourceAccessor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whole runs of Liquibase. */
class LiquibaseRunTest {
  private static final String URL_SETTING = "mortise.liquibase.url";
  private static final String NAME_SETTING = "mortise.liquibase.name";

  private final String store = TestStore.SQLITE.newUrl();
  private final String database = SampleDatabase.newUrl();

  @AfterEach
  void useNone() {
    MortiseLockService.useNone();
    System.clearProperty(URL_SETTING);
    System.clearProperty(NAME_SETTING);
    LockServiceFactory.reset();
  }

  @Test
  void givenAnotherProcessThatMigrates_whenARunBegins_thenItWaits_andThenMigratesWithoutATable()
      throws Exception {
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (LockClient client = LockClient.connect(store);
        LockClient other = LockClient.connect(store)) {
      MortiseLockService.use(client);
      String lock = SampleDatabase.lockName(database);
      Lease migrating = other.lock(lock).acquire();
      Future<?> run =
          thread.submit(
              () -> {
                migrate("changes.xml");
                return null;
              });
      await()
          .atMost(BoundedWait.scaled(BoundedWait.ANSWER))
          .until(
              () -> other.admin().find(lock).stream().anyMatch(info -> !info.waiters().isEmpty()));
      assertThat(tables()).doesNotContain("INVOICE");
      migrating.close();
      run.get(60, TimeUnit.SECONDS);
      assertThat(query("select count(*) from invoice")).isEqualTo("2");
      assertThat(tables()).contains("DATABASECHANGELOG").doesNotContain("DATABASECHANGELOGLOCK");
      assertThat(other.lock(lock).tryAcquire()).isPresent();
    } finally {
      thread.shutdownNow();
    }
  }

  @Test
  void givenRunsOfTwoThreads_whenTheyHaveEnded_thenNeitherLockIsHeld() throws Exception {
    String second = SampleDatabase.newUrl();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (LockClient client = LockClient.connect(store)) {
      MortiseLockService.use(client);
      for (int round = 0; round < 10; round++) {
        List<Future<?>> runs = new ArrayList<>();
        for (String each : List.of(database, second)) {
          runs.add(
              threads.submit(
                  () -> {
                    migrate(each, "changes.xml");
                    return null;
                  }));
        }
        for (Future<?> run : runs) {
          endOf(run);
        }
      }
      for (String each : List.of(database, second)) {
        assertThat(
                client
                    .lock(SampleDatabase.lockName(each))
                    .tryAcquire(BoundedWait.scaled(BoundedWait.ANSWER)))
            .isPresent();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** Liquibase does not support this: a run may fail. */
  private static void endOf(Future<?> run) throws Exception {
    try {
      run.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      assertThat(e.getCause()).isInstanceOf(Exception.class);
    }
  }

  @Test
  void givenUrl_thenEachRunConnects_andTheChosenNameIsLocked() throws Exception {
    System.setProperty(URL_SETTING, store);
    System.setProperty(NAME_SETTING, "billing schema");
    migrate("changes.xml");
    migrate("changes.xml");
    assertThat(query("select count(*) from invoice")).isEqualTo("2");
    try (LockClient client = LockClient.connect(store)) {
      assertThat(client.admin().list(LockQuery.all().withIdle().page(null, 10)).items())
          .singleElement()
          .satisfies(
              lock -> {
                assertThat(lock.name()).isEqualTo("billing schema");
                assertThat(lock.holders()).isEmpty();
              });
    }
  }

  @Test
  void givenWrongUrl_thenTheRunFails_andNothingIsMigrated() {
    System.setProperty(URL_SETTING, "nonsense:here");
    assertThatThrownBy(() -> migrate("changes.xml")).hasStackTraceContaining("nonsense");
    assertThatThrownBy(() -> query("select count(*) from invoice"));
  }

  @Test
  void givenClientThatIsClosed_thenTheRunFails_andIsToldWhatToCall() {
    LockClient client = LockClient.connect(store);
    MortiseLockService.use(client);
    client.close();
    assertThatThrownBy(() -> migrate("changes.xml"))
        .hasStackTraceContaining("closed. Give an open one to MortiseLockService.use");
    assertThatThrownBy(() -> query("select count(*) from invoice"));
  }

  @Test
  void givenNeitherClientNorUrl_thenLiquibaseKeepsItsOwnTable() throws Exception {
    Database connected = SampleDatabase.open(database);
    assertThat(new MortiseLockService().supports(connected)).isFalse();
    assertThat(LockServiceFactory.getInstance().getLockService(connected))
        .isInstanceOf(StandardLockService.class);
    connected.close();
    migrate("changes.xml");
    assertThat(tables()).contains("DATABASECHANGELOGLOCK");
  }

  @Test
  void givenRunThatLosesItsLock_thenTheNextChangeSetDoesNotRun_andALaterRunGoesOn()
      throws Exception {
    try (LockClient client = LockClient.connect(store)) {
      MortiseLockService.use(client);
      EvictingChange.arm(client, SampleDatabase.lockName(database));
      assertThatThrownBy(() -> migrate("losing.xml"));
      assertThat(tables()).contains("FIRST").doesNotContain("LAST");
      assertThat(query("select count(*) from databasechangelog")).isEqualTo("1");
      migrate("losing.xml");
      assertThat(tables()).contains("FIRST", "LAST");
      assertThat(query("select count(*) from databasechangelog")).isEqualTo("3");
    }
  }

  private void migrate(String changes) throws Exception {
    migrate(database, changes);
  }

  private static void migrate(String database, String changes) throws Exception {
    Database connected = SampleDatabase.open(database);
    try (Liquibase liquibase =
        new Liquibase(
            "io/mortise/liquibase/" + changes, new ClassLoaderResourceAccessor(), connected)) {
      liquibase.update(new Contexts());
    }
  }

  private String query(String sql) throws Exception {
    try (Connection connection = DriverManager.getConnection(database);
        ResultSet rows = connection.createStatement().executeQuery(sql)) {
      assertThat(rows.next()).isTrue();
      return rows.getString(1);
    }
  }

  private Set<String> tables() throws Exception {
    try (Connection connection = DriverManager.getConnection(database);
        ResultSet rows = connection.getMetaData().getTables(null, "PUBLIC", "%", null)) {
      Set<String> names = new TreeSet<>();
      while (rows.next()) {
        names.add(rows.getString("TABLE_NAME"));
      }
      return names;
    }
  }
}
