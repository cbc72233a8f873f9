package io.mortise.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.spi.SessionId;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.event.Level;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.spi.DefaultLoggingEventBuilder;

class SessionLogTest {
  private final List<String> lines = new ArrayList<>();
  private final List<Runnable> later = new ArrayList<>();
  private final EngineScheduler timers =
      (delay, task) -> {
        later.add(task);
        return () -> {};
      };

  private SessionLog log(int parts) {
    Logger logger =
        (Logger)
            Proxy.newProxyInstance(
                Logger.class.getClassLoader(),
                new Class<?>[] {Logger.class},
                (proxy, method, args) -> {
                  Object[] values =
                      args.length == 2 && args[1] instanceof Object[] array
                          ? array
                          : List.of(args).subList(1, args.length).toArray();
                  if (method.getName().equals("atLevel")) {
                    return new DefaultLoggingEventBuilder((Logger) proxy, (Level) args[0]);
                  }
                  lines.add(
                      method.getName()
                          + ": "
                          + MessageFormatter.arrayFormat((String) args[0], values).getMessage());
                  return null;
                });
    return new SessionLog(logger, timers, parts);
  }

  private static SessionId session(int number) {
    return new SessionId("A".repeat(11) + (char) ('A' + number));
  }

  private void aSecondPasses() {
    List<Runnable> due = List.copyOf(later);
    later.clear();
    due.forEach(Runnable::run);
  }

  @Test
  void givenManySessionsMeetTheSame_thenTheFirstIsTold_andTheOthersByTheirNumber() {
    SessionLog log = log(64);
    for (int i = 0; i < 22; i++) {
      log.unanswered("Gone.", session(i), "redis-cluster:a", 3, 5_000_000_000L);
    }
    log.unanswered("Gone.", session(23), "redis-cluster:b", 3, 5_000_000_000L);
    assertThat(lines)
        .hasSize(2)
        .allMatch(line -> line.startsWith("warn: Gone. Leases of session AAAAAAAAAAA"))
        .allMatch(line -> line.endsWith(": 3; the first is lost in 5s unless the store answers."));
    lines.clear();
    aSecondPasses();
    assertThat(lines)
        .containsExactly("warn: The same is true of 21 more sessions in store redis-cluster:a.");
    lines.clear();
    log.answeredAgain("redis-cluster:a", 1, 3);
    log.unanswered("Gone.", session(1), "redis-cluster:a", 3, 1);
    assertThat(lines).hasSize(2);
    aSecondPasses();
    assertThat(lines).as("nobody has followed").hasSize(2);
  }

  @Test
  void givenSessionThatHoldsNothing_whenTheStoreMayHaveForgotten_thenNothingIsTold() {
    SessionLog log = log(64);
    log.inDoubt(session(1), "redis-cluster:a", 0);
    assertThat(lines).isEmpty();
    log.inDoubt(session(2), "redis-cluster:a", 3);
    log.inDoubt(session(3), "redis-cluster:a", 1);
    aSecondPasses();
    assertThat(lines)
        .hasSize(2)
        .anyMatch(line -> line.contains("3 leases of session AAAAAAAAAAAC"))
        .anyMatch(line -> line.contains("1 more sessions in store redis-cluster:a are in doubt"));
  }

  @Test
  void givenStoreWithoutParts_thenEachIsTold_andNoTimerIsSet() {
    SessionLog log = log(1);
    log.unanswered("Gone.", session(1), "redis:a", 0, 1);
    log.unanswered("Gone.", session(1), "redis:a", 0, 1);
    log.answeredAgain("redis:a", 1, 0);
    assertThat(lines).hasSize(3);
    assertThat(later).isEmpty();
  }
}
