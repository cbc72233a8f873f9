package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.annotation.Beta;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The clock of a store that has one: the server's, the same for all processes. A store that
 * measures the offset to the server's clock only once, when it is opened, fails: the offset is
 * wrong by the delay of that answer, and does not follow later changes of the server's clock.
 *
 * <p>Optional. The other contracts open a store in one process, over a fast network, where such a
 * clock looks right.
 */
@Beta
public abstract class StoreClockContract {
  private static final Duration LONG = Duration.ofMinutes(5);

  /**
   * The smallest detected error; half of the delay, as a store may assume the middle of the round
   * trip.
   */
  private static final Duration TOLERANCE = FaultInjectionProxy.ANSWER_DELAY.dividedBy(4);

  private static final int ROUNDS = 10;

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private @Nullable FaultInjectionProxy proxy;

  /** For one test, which closes its stores at its end. */
  protected StoreClockContract() {}

  /** Opens the store of the test's namespace, as one process does. */
  protected abstract LockStore open();

  /**
   * The server's own port on the loopback. Override it and {@link #openBehind}, or {@link
   * #openLate} and {@link #inTime} if the server has no port.
   */
  protected int port() {
    throw new UnsupportedOperationException("Override port() and openBehind(port).");
  }

  /**
   * The same namespace once more, as another process opens it.
   *
   * @param port of the proxy, on the loopback
   */
  protected LockStore openBehind(int port) {
    throw new UnsupportedOperationException("Override port() and openBehind(port).");
  }

  /** The same namespace once more, while each answer of the server is late. */
  protected LockStore openLate() {
    proxy = FaultInjectionProxy.to(port());
    proxy.condition(NetworkCondition.ANSWERS_LATE);
    return openBehind(proxy.port());
  }

  /** Ends the delay of answers, also for the store that was opened late. */
  protected void inTime() {
    if (proxy != null) {
      proxy.condition(NetworkCondition.FAIR);
    }
  }

  private <T extends AutoCloseable> T closed(T resource) {
    opened.push(resource);
    return resource;
  }

  private SessionDriver session(LockStore store) {
    SessionDriver session = SessionDriver.open(closed(store), LONG, "clock");
    closed(() -> BoundedWait.join(session.session().close()));
    return session;
  }

  @AfterEach
  public final void closeAll() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
    if (proxy != null) {
      proxy.close();
    }
  }

  private static Instant time(SessionDriver session) {
    Renewal renewal = session.renew();
    if (renewal instanceof Renewal.Renewed renewed) {
      return Instant.EPOCH.plus(renewed.storeMicros(), ChronoUnit.MICROS);
    }
    throw new AssertionError("The renewal was answered " + renewal + ".");
  }

  @Test
  public final void givenStoreWithAClock_thenItCountsMicrosecondsSince1970() {
    assertThat(time(session(open())))
        .isBetween(Instant.parse("2020-01-01T00:00:00Z"), Instant.parse("2200-01-01T00:00:00Z"));
  }

  @Test
  public final void givenTwoProcesses_whenTheFirstAnswersToOneWereLate_thenBothSeeOneClock() {
    SessionDriver usual = session(open());
    SessionDriver late = session(openLate());
    inTime();
    for (int i = 0; i < ROUNDS; i++) {
      Instant before = time(usual);
      Instant between = time(late);
      Instant after = time(usual);
      assertThat(between)
          .as("the time that one process gets between two that another gets")
          .isBetween(before.minus(TOLERANCE), after.plus(TOLERANCE));
    }
  }
}
