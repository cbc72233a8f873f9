package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.Store;
import io.mortise.jdbc.JdbcStore;
import io.mortise.spring.LockContext;
import io.mortise.spring.Locked;
import io.mortise.spring.boot.BootApp.Setup;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ApplicationRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** A job that runs while its application closes keeps its lock, in each kind of store. */
@EnabledIfSystemProperty(named = "mortise.boot", matches = ".+")
class ShutdownIT extends StartedServers {
  private static final int WAIT_SECONDS = 60;
  private static final String[] AWAITED = {
    "spring.task.scheduling.shutdown.await-termination=true",
    "spring.task.scheduling.shutdown.await-termination-period=60s",
    "spring.task.execution.shutdown.await-termination=true",
    "spring.task.execution.shutdown.await-termination-period=60s"
  };

  static class Progress {
    final CountDownLatch began = new CountDownLatch(1);
    final CountDownLatch mayEnd = new CountDownLatch(1);
    final List<String> said = new CopyOnWriteArrayList<>();

    void run() {
      Lease lease = LockContext.current().lease();
      began.countDown();
      try {
        said.add(mayEnd.await(WAIT_SECONDS, TimeUnit.SECONDS) ? "ended" : "timeout");
      } catch (InterruptedException e) {
        said.add("interrupted");
      }
      said.add(lease.isValid() ? "valid" : "not valid");
    }
  }

  static class Job {
    private final Progress progress;

    Job(Progress progress) {
      this.progress = progress;
    }

    @Scheduled(fixedDelay = 3_600_000)
    @Locked("job")
    public void run() {
      progress.run();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  static class Schedule {
    @Bean
    Progress progress() {
      return new Progress();
    }

    @Bean
    Job job(Progress progress) {
      return new Job(progress);
    }
  }

  static class AsynchronousJob {
    private final Progress progress;

    AsynchronousJob(Progress progress) {
      this.progress = progress;
    }

    @Async
    @Locked("job")
    public void run() {
      progress.run();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync
  static class Asynchronous {
    @Bean
    Progress progress() {
      return new Progress();
    }

    @Bean
    AsynchronousJob job(Progress progress) {
      return new AsynchronousJob(progress);
    }

    @Bean
    ApplicationRunner starter(AsynchronousJob job) {
      return arguments -> job.run();
    }
  }

  /** Reads from the database of its locks, also while the application closes. */
  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  static class Reading {
    static class ReadingJob extends Job {
      private final Progress progress;
      private final JdbcTemplate jdbc;

      ReadingJob(Progress progress, DataSource dataSource) {
        super(progress);
        this.progress = progress;
        this.jdbc = new JdbcTemplate(dataSource);
      }

      @Override
      @Scheduled(fixedDelay = 3_600_000)
      @Locked("job")
      public void run() {
        super.run();
        progress.said.add(String.valueOf(jdbc.queryForObject("SELECT 1", Integer.class)));
      }
    }

    @Bean
    Progress progress() {
      return new Progress();
    }

    @Bean
    ReadingJob job(Progress progress, DataSource dataSource) {
      return new ReadingJob(progress, dataSource);
    }
  }

  /** Before Framework 7, Spring does not know that the store needs the data source. */
  @Configuration(proxyBeanMethods = false)
  static class OwnStore {
    @Bean
    Store store(ObjectProvider<DataSource> dataSource) {
      return JdbcStore.over(dataSource.getObject(), "");
    }
  }

  private static Setup memory() {
    return BootApp.setup().set("mortise.url=mem:shutdown");
  }

  private static void assertLockedToItsEnd(Setup setup, String url, String... said)
      throws InterruptedException {
    try (BootApp app = setup.start();
        LockClient other = LockClient.connect(url)) {
      Progress job = app.bean(Progress.class);
      assertThat(job.began.await(WAIT_SECONDS, TimeUnit.SECONDS)).isTrue();
      Thread closing = new Thread(app::close);
      closing.start();
      try {
        BoundedWait.until(
            Duration.ofSeconds(WAIT_SECONDS),
            "closing waited or ended",
            () ->
                Set.of(Thread.State.TIMED_WAITING, Thread.State.TERMINATED)
                    .contains(closing.getState()));
        assertThat(other.lock("job").tryAcquire()).isEmpty();
      } finally {
        job.mayEnd.countDown();
      }
      closing.join(TimeUnit.SECONDS.toMillis(WAIT_SECONDS));
      assertThat(closing.isAlive()).isFalse();
      assertThat(job.said).startsWith("ended", "valid").endsWith(said);
      assertThat(other.admin().find("job"))
          .hasValueSatisfying(lock -> assertThat(lock.holders()).isEmpty());
      assertThat(other.lock("job").tryAcquire()).isPresent();
    }
  }

  @Test
  void givenScheduledJobThatIsAwaited_whenClosed_thenItKeepsItsLock() throws Exception {
    assertLockedToItsEnd(memory().and(Schedule.class).set(AWAITED), "mem:shutdown");
    assertLockedToItsEnd(database().and(Schedule.class).set(AWAITED), postgres.url());
    assertLockedToItsEnd(redis().and(Schedule.class).set(AWAITED), redis.url());
  }

  @Test
  void givenDataSourceOfJobAndLocks_whenClosed_thenItOutlivesTheJob() throws Exception {
    assertLockedToItsEnd(
        database().and(Reading.class, OwnStore.class).set(AWAITED), postgres.url(), "1");
  }

  /** Its phase of the life cycle waits for it, and ends before the connections of Lettuce do. */
  @Test
  void givenScheduledJobWithoutSettings_whenClosed_thenItKeepsItsLock() throws Exception {
    assertLockedToItsEnd(memory().and(Schedule.class), "mem:shutdown");
    assertLockedToItsEnd(redis().and(Schedule.class), redis.url());
  }

  @Test
  void givenAsynchronousJob_whenClosed_thenItKeepsItsLock() throws Exception {
    assertLockedToItsEnd(memory().and(Asynchronous.class).set(AWAITED), "mem:shutdown");
    assertLockedToItsEnd(redis().and(Asynchronous.class).set(AWAITED), redis.url());
  }

  /** Threads per task: virtual ones, if the Java version has them. */
  @Test
  void givenVirtualThreads_whenClosed_thenJobsKeepTheirLocks() throws Exception {
    String virtual = "spring.threads.virtual.enabled=true";
    assertLockedToItsEnd(memory().and(Schedule.class).set(AWAITED).set(virtual), "mem:shutdown");
    assertLockedToItsEnd(
        database().and(Asynchronous.class).set(AWAITED).set(virtual), postgres.url());
  }
}
