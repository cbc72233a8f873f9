package io.mortise.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.LockClient;
import io.mortise.testserver.TestStore;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** An application with ShedLock's annotation: its provider is the one bean that changes. */
class SchedulerLockTest {
  @Test
  void givenAnnotatedJobs_whenTheyRun_thenEachRunHasALeaseOfItsOwn() {
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      context.registerBean(LockClient.class, () -> LockClient.connect(TestStore.MEMORY.newUrl()));
      context.register(Application.class);
      context.refresh();
      Report report = context.getBean(Report.class);
      await().until(() -> report.tokens().size() >= 3);
      assertThat(report.tokens().stream().limit(3)).doesNotHaveDuplicates().isSorted();
    }
  }

  /** As an application writes it. */
  @Configuration
  @EnableScheduling
  @EnableSchedulerLock(defaultLockAtMostFor = "1m")
  public static class Application {
    /** The only bean that changes. */
    @Bean
    public MortiseLockProvider lockProvider(LockClient locks) {
      return MortiseLockProvider.over(locks);
    }

    /** The job. */
    @Bean
    public Report report(MortiseLockProvider provider) {
      return new Report(provider);
    }
  }

  /** A job that writes with its token. */
  public static class Report {
    private final MortiseLockProvider provider;
    private final Queue<Long> tokens = new ConcurrentLinkedQueue<>();

    Report(MortiseLockProvider provider) {
      this.provider = provider;
    }

    /** The tokens of its runs. */
    public Queue<Long> tokens() {
      return tokens;
    }

    /** A run. */
    @Scheduled(fixedDelay = 10)
    @SchedulerLock(name = "report")
    public void run() {
      LockAssert.assertLocked();
      tokens.add(provider.currentLease().orElseThrow().token());
    }
  }
}
