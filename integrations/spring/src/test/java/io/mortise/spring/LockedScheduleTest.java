package io.mortise.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** {@code @Scheduled} beside {@link Locked}: one of several instances runs the tick. */
class LockedScheduleTest {
  static class Job {
    private final AtomicInteger runs = new AtomicInteger();
    private final AtomicInteger ticks = new AtomicInteger();
    private final Set<Long> tokens = ConcurrentHashMap.newKeySet();

    @Scheduled(fixedRate = 5)
    @Locked(value = "report", waitFor = "0", ifBusy = Locked.IfBusy.SKIP, atLeast = "1h")
    public void report() {
      runs.incrementAndGet();
      tokens.add(LockContext.current().token());
    }

    int runs() {
      return runs.get();
    }

    int ticks() {
      return ticks.get();
    }

    int tokens() {
      return tokens.size();
    }

    @Scheduled(fixedRate = 5)
    public void tick() {
      ticks.incrementAndGet();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  static class Config {
    @Bean
    Job job() {
      return new Job();
    }
  }

  @Test
  void givenTwoInstances_whenTheScheduleTicks_thenOneRunsOncePerAtLeastTime() {
    String url = SpringApp.newUrl();
    try (SpringApp first = SpringApp.startOn(url, Config.class);
        SpringApp second = SpringApp.startOn(url, Config.class)) {
      Job one = first.bean(Job.class);
      Job two = second.bean(Job.class);
      await().until(() -> one.ticks() > 20 && two.ticks() > 20);
      assertThat(one.runs() + two.runs()).isEqualTo(1);
      assertThat(one.tokens() + two.tokens()).isEqualTo(1);
      // The store's time is over: the next tick of either runs.
      assertThat(first.other().admin().reopen("report")).isTrue();
      await().until(() -> one.runs() + two.runs() == 2);
    }
  }
}
