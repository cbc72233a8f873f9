package io.mortise.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.PostgresServer;
import io.mortise.testserver.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** The main path on real servers: two applications, one lock, and real transactions. */
class LockedServersTest {
  private static final int THREADS = 4;
  private static final int ROUNDS = 25;

  static class Accounts {
    private final JdbcTemplate jdbc;

    Accounts(DataSource dataSource) {
      this.jdbc = new JdbcTemplate(dataSource);
    }

    /** Read, then write: wrong unless the lock is held until the commit. */
    @Transactional
    @Locked("account/#{#id}")
    public void deposit(long id) {
      add(id);
    }

    @Locked("account/#{#id}")
    public void depositInTransactionOfCaller(long id) {
      add(id);
    }

    private void add(long id) {
      Long balance =
          jdbc.queryForObject("SELECT balance FROM account WHERE id = ?", Long.class, id);
      jdbc.update("UPDATE account SET balance = ? WHERE id = ?", balance + 1, id);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  static class Database {
    @Bean
    DataSource dataSource(Environment environment) {
      return new DriverManagerDataSource(environment.getRequiredProperty("test.url"));
    }

    @Bean
    PlatformTransactionManager transactions(DataSource dataSource) {
      return new DataSourceTransactionManager(dataSource);
    }

    @Bean
    Accounts accounts(DataSource dataSource) {
      return new Accounts(dataSource);
    }
  }

  @Test
  void givenPostgresql_whenTwoApplicationsDeposit_thenNoDepositIsLost() throws Exception {
    try (PostgresServer server =
            PostgresServer.start(
                TestPrerequisites.required(PostgresServer.installed(), "PostgreSQL"));
        SpringApp first = SpringApp.startOn(server.url(), Database.class);
        SpringApp second = SpringApp.startOn(server.url(), Database.class)) {
      JdbcTemplate jdbc = new JdbcTemplate(first.bean(DataSource.class));
      jdbc.execute("CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)");
      jdbc.update("INSERT INTO account VALUES (1, 0)");
      ExecutorService executor = Executors.newFixedThreadPool(THREADS);
      try {
        List<Future<?>> ends = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
          SpringApp app = i % 2 == 0 ? first : second;
          ends.add(executor.submit(() -> deposit(app)));
        }
        for (Future<?> end : ends) {
          end.get();
        }
      } finally {
        executor.shutdownNow();
      }
      assertThat(jdbc.queryForObject("SELECT balance FROM account WHERE id = 1", Long.class))
          .isEqualTo(THREADS * ROUNDS * 2L);
      assertThat(first.isHeld("account/1")).isFalse();
    }
  }

  private static void deposit(SpringApp app) {
    Accounts accounts = app.bean(Accounts.class);
    TransactionTemplate transaction =
        new TransactionTemplate(app.bean(PlatformTransactionManager.class));
    for (int i = 0; i < ROUNDS; i++) {
      accounts.deposit(1);
      transaction.executeWithoutResult(status -> accounts.depositInTransactionOfCaller(1));
    }
  }

  static class Counter {
    private int count;
    private long last;

    @Locked("counter")
    public void count() {
      long token = LockContext.current().token();
      assertThat(token).isGreaterThan(last);
      last = token;
      count++;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Counting {
    static final Counter SHARED = new Counter();

    @Bean
    Counter counter() {
      return SHARED;
    }
  }

  static class Timed {
    @Locked(value = "timed", atLeast = "1m")
    public void atLeast() {}
  }

  @Configuration(proxyBeanMethods = false)
  static class TimedConfig {
    @Bean
    Timed timed() {
      return new Timed();
    }
  }

  @Test
  void givenRedis_whenTwoApplicationsCount_thenTheyTakeTurnsWithRisingTokens() throws Exception {
    try (RedisServer server =
            RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "Redis"));
        SpringApp first = SpringApp.startOn(server.url(), Counting.class);
        SpringApp second = SpringApp.startOn(server.url(), Counting.class)) {
      ExecutorService executor = Executors.newFixedThreadPool(THREADS);
      try {
        List<Future<?>> ends = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
          Counter counter = (i % 2 == 0 ? first : second).bean(Counter.class);
          ends.add(
              executor.submit(
                  () -> {
                    for (int round = 0; round < ROUNDS; round++) {
                      counter.count();
                    }
                  }));
        }
        for (Future<?> end : ends) {
          end.get();
        }
      } finally {
        executor.shutdownNow();
      }
      assertThat(Counting.SHARED.count).isEqualTo(THREADS * ROUNDS);
      String plain = server.url().replace("redis://", "redis-plain://");
      assertThatThrownBy(() -> SpringApp.startOn(plain, TimedConfig.class))
          .isInstanceOf(InvalidLockedMethodException.class)
          .hasMessageContaining("Timed.atLeast()")
          .hasMessageContaining("no at-least times")
          .hasMessageContaining("use another store");
    }
  }
}
