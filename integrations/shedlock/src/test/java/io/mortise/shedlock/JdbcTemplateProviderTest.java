package io.mortise.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.TestStore;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Statements of the page from-shedlock.md on ShedLock's own provider for databases. If a test fails
 * here, that provider has changed, and the page must follow.
 */
class JdbcTemplateProviderTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private JdbcTemplateLockProvider provider;

  @BeforeEach
  void createTable() {
    JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(TestStore.SQLITE.newUrl()));
    jdbc.execute(
        "create table shedlock (name varchar(64) primary key, lock_until timestamp not null,"
            + " locked_at timestamp not null, locked_by varchar(255) not null)");
    provider = new JdbcTemplateLockProvider(jdbc);
  }

  @Test
  void givenTwoProcessesOfOneHost_whenAnOverdueTaskUnlocks_thenItOpensTheLockOfTheNext() {
    SimpleLock overdue = provider.lock(times(Duration.ofMillis(50))).orElseThrow();
    await().until(() -> provider.lock(times(MINUTE)), Optional::isPresent);
    assertThat(provider.lock(times(MINUTE))).isEmpty();
    overdue.unlock();
    assertThat(provider.lock(times(MINUTE))).as("a third one").isPresent();
  }

  @Test
  void givenFailedExtension_whenTheTaskEnds_thenTheUnlockHidesWhatHappened() {
    LockingTaskExecutor executor = new DefaultLockingTaskExecutor(provider);
    assertThatThrownBy(
            () ->
                executor.executeWithLock(
                    (LockingTaskExecutor.Task)
                        () -> {
                          BoundedWait.pass(Duration.ofMillis(100));
                          LockExtender.extendActiveLock(MINUTE, Duration.ZERO);
                        },
                    times(Duration.ofMillis(50))))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("already been unlocked or extended");
  }

  private static LockConfiguration times(Duration atMost) {
    return new LockConfiguration(ClockProvider.now(), "report", atMost, Duration.ZERO);
  }
}
