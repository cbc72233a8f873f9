package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.Store;
import io.mortise.jdbc.JdbcStore;
import io.mortise.spring.Locked;
import io.mortise.spring.boot.BootApp.Part;
import io.mortise.spring.boot.BootApp.Setup;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.annotation.Transactional;

/** The store is opened over a bean of the application, on real servers. */
@EnabledIfSystemProperty(named = "mortise.boot", matches = ".+")
class StoreOfBeansIT extends StartedServers {
  private static final int THREADS = 4;
  private static final int ROUNDS = 25;

  private static Setup both() {
    return database().and(Part.REDIS).set(redisProperties());
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnStore {
    @Bean
    Store store() {
      return JdbcStore.over(new DriverManagerDataSource(postgres.url()), "namespace=own");
    }
  }

  /**
   * The locks are in that store. A lock that is still held becomes free when the application is
   * closed, on connections that were still open.
   */
  private static void assertKeptIn(Setup setup, String url) {
    try (LockClient other = LockClient.connect(url)) {
      try (BootApp app = setup.start()) {
        Lease left = app.locks().lock("kept").tryAcquire().orElseThrow();
        assertThat(left.token()).isPositive();
        assertThat(other.lock("kept").tryAcquire()).isEmpty();
      }
      Lease next = other.lock("kept").tryAcquire().orElseThrow();
      next.close();
    }
  }

  @Test
  void givenDataSource_whenStarted_thenLocksAreInItsDatabase() {
    assertKeptIn(database(), postgres.url());
  }

  @Test
  void givenDataSource_whenConsoleExaminesTheStore_thenItTellsOfThatServer() throws Exception {
    Setup served =
        database()
            .and(Part.WEB)
            .set("mortise.console.enabled=true", "mortise.console.anonymous=true");
    try (BootApp app = served.start()) {
      HttpResponse<String> doctor =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(URI.create(app.address() + "/mortise/api/v1/doctor"))
                      .timeout(Duration.ofSeconds(30))
                      .build(),
                  BodyHandlers.ofString());
      assertThat(doctor.statusCode()).as(doctor.body()).isEqualTo(200);
      assertThat(JsonParserFactory.getJsonParser().parseMap(doctor.body()))
          .hasEntrySatisfying("mode", mode -> assertThat(mode).asString().startsWith("postgresql"))
          .hasEntrySatisfying(
              "findings",
              findings -> assertThat(findings).asString().contains("synchronous_commit"));
    }
  }

  @Test
  void givenDataSourceAndNamespace_whenStarted_thenLocksAreThere() {
    assertKeptIn(
        database().set("mortise.namespace=billing", "mortise.jdbc.parameters=prefix=app_"),
        postgres.url() + "&namespace=billing&prefix=app_");
  }

  @Test
  void givenLettuce_whenStarted_thenLocksAreInItsRedis() {
    assertKeptIn(redis(), redis.url());
    assertKeptIn(redis().set("mortise.namespace=billing"), redis.url() + "?namespace=billing");
  }

  @Test
  void givenStoreBean_whenStarted_thenLocksAreInIt() {
    assertKeptIn(redis().and(OwnStore.class), postgres.url() + "&namespace=own");
  }

  @Test
  void givenSeveralBeans_whenNoneIsChosen_thenTheAnalysisNamesThem() {
    FailureAnalysis analysis = both().failure();
    assertThat(analysis.getDescription())
        .contains("over the DataSource")
        .contains("over the LettuceConnectionFactory");
    assertThat(analysis.getAction())
        .contains("mortise.store-bean=jdbc")
        .contains("mortise.store-bean=redis");
  }

  @Test
  void givenSeveralBeans_whenOneIsChosen_thenLocksAreThere() {
    assertKeptIn(both().set("mortise.store-bean=redis"), redis.url());
    assertKeptIn(both().set("mortise.store-bean=jdbc"), postgres.url());
    assertKeptIn(both().set("mortise.url=" + redis.url()), redis.url());
  }

  @Configuration(proxyBeanMethods = false)
  static class TwoDataSources {
    @Bean
    DataSource one() {
      return new DriverManagerDataSource(postgres.url());
    }

    @Bean
    DataSource two() {
      return new DriverManagerDataSource(postgres.url());
    }
  }

  @Test
  void givenTwoBeansOfAType_whenNoneIsPrimary_thenTheAnalysisCountsThem() {
    FailureAnalysis analysis = BootApp.setup().and(TwoDataSources.class).failure();
    assertThat(analysis.getDescription())
        .contains("There are 2 beans of type DataSource, and none is @Primary.");
  }

  @Test
  void givenSmallPool_whenStarted_thenTheAnalysisSaysHowLargeItMustBe() {
    FailureAnalysis analysis =
        database().set("spring.datasource.hikari.maximum-pool-size=4").failure();
    assertThat(analysis.getDescription()).contains("has 4 connections at most");
    assertThat(analysis.getAction()).contains("maximum-pool-size to 5");
  }

  @Test
  void givenMigrations_whenStarted_thenTheClientIsMadeAfterThem() {
    try (BootApp app = database().set("spring.sql.init.mode=always").start()) {
      assertThat(
              app.context().getBeanFactory().getBeanDefinition("mortiseLockClient").getDependsOn())
          .contains("dataSourceScriptDatabaseInitializer");
    }
  }

  static class Accounts {
    private final JdbcTemplate jdbc;

    Accounts(DataSource dataSource) {
      this.jdbc = new JdbcTemplate(dataSource);
    }

    /** Reads, then writes: wrong unless the lock is held until the commit. */
    @Transactional
    @Locked("account/#{#id}")
    public void deposit(long id) {
      Long balance =
          jdbc.queryForObject("SELECT balance FROM account WHERE id = ?", Long.class, id);
      jdbc.update("UPDATE account SET balance = ? WHERE id = ?", balance + 1, id);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class AccountsConfig {
    @Bean
    Accounts accounts(DataSource dataSource) {
      return new Accounts(dataSource);
    }
  }

  @Test
  void givenTransactions_whenTwoApplicationsDeposit_thenNoDepositIsLost() throws Exception {
    try (BootApp first = database().and(AccountsConfig.class).start();
        BootApp second = both().and(AccountsConfig.class).set("mortise.store-bean=jdbc").start()) {
      JdbcTemplate jdbc = new JdbcTemplate(first.bean(DataSource.class));
      jdbc.execute("CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)");
      jdbc.update("INSERT INTO account VALUES (1, 0)");
      ExecutorService executor = Executors.newFixedThreadPool(THREADS);
      try {
        List<Future<?>> ends = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
          Accounts accounts = (i % 2 == 0 ? first : second).bean(Accounts.class);
          ends.add(
              executor.submit(
                  () -> {
                    for (int round = 0; round < ROUNDS; round++) {
                      accounts.deposit(1);
                    }
                  }));
        }
        for (Future<?> end : ends) {
          end.get();
        }
      } finally {
        executor.shutdownNow();
      }
      assertThat(jdbc.queryForObject("SELECT balance FROM account WHERE id = 1", Long.class))
          .isEqualTo((long) THREADS * ROUNDS);
    }
  }
}
