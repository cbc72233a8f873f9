package io.mortise.torture.hazards;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.ZooKeeperServer;
import java.io.OutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A holder whose host is suspended for longer than the TTL, like a laptop, or a frozen virtual
 * machine.
 */
@RerunIfPaused
class HostSuspendTest {
  private static final Duration TTL = Duration.ofMillis(1500);
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final String LOCK = "invoice/42";

  private enum SuspendTestStore {
    REDIS("redis://127.0.0.1:%d"),
    REDIS_PLAIN("redis-plain://127.0.0.1:%d"),
    ZOOKEEPER("zk://127.0.0.1:%d?tick=100ms"),
    CURATOR("zk+curator://127.0.0.1:%d?tick=100ms&recipe=mutex&base=/locks");

    private final String url;

    SuspendTestStore(String url) {
      this.url = url;
    }

    int start(HazardContext hazardContext) {
      return name().startsWith("REDIS")
          ? hazardContext.redis().port()
          : hazardContext
              .open(ZooKeeperServer.start(ZooKeeperServer.Setup.single().with("tickTime", "100")))
              .port();
    }

    String url(int port) {
      return url.formatted(port);
    }
  }

  private static HazardContext stage() {
    return new HazardContext(new PrintStream(OutputStream.nullOutputStream(), false, UTF_8), null);
  }

  @ParameterizedTest
  @EnumSource
  void givenHolderWhoseHostSleeps_whenItWakes_thenItsLeaseLooksValidForAMoment_andThenItIsTold(
      SuspendTestStore kind) throws Exception {
    try (HazardContext hazardContext = stage()) {
      int port = kind.start(hazardContext);
      // No message passes while the host is suspended.
      FaultInjectionProxy line = hazardContext.open(FaultInjectionProxy.to(port));
      LockStore store =
          hazardContext.open(LockStore.connect(StoreUrl.parse(kind.url(line.port()))));
      SuspendedHost host = new SuspendedHost(true);
      LockClient holder = hazardContext.open(host.client(store, TTL));
      LockClient other = hazardContext.client(kind.url(port), "other", LONG);
      Lease lease = holder.lock(LOCK).acquireWithin(LONG);

      line.condition(NetworkCondition.FROZEN);
      host.suspend();
      Lease next = other.lock(LOCK).acquireWithin(LONG);

      assertThat(lease.isValid()).as("when it wakes").isTrue();
      line.condition(NetworkCondition.FAIR);
      host.wake(Duration.ZERO);
      BoundedWait.until(LONG, "the holder was told", () -> lease.state() == Lease.State.LOST);
      next.ensureValid();
      if (kind != SuspendTestStore.REDIS_PLAIN) {
        assertThat(next.token()).isGreaterThan(token(lease));
      }
      next.close();
    } catch (MissingProgramException e) {
      HazardRunner.skip(e);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"REDIS", "ZOOKEEPER"})
  void givenIdleGrantWhoseHostSleeps_whenItWakes_thenItIsNotTakenAgain(SuspendTestStore kind)
      throws Exception {
    takeAfterSleep(kind, EngineRules.ALL, false);
  }

  /** Positive control. */
  @Test
  void givenEngineThatDoesNotLookAtTheSession_whenItWakes_thenItsIdleGrantIsTakenAgain()
      throws Exception {
    EngineRules blind =
        new EngineRules() {
          @Override
          public boolean takesIdleOfValidSession() {
            return false;
          }
        };
    takeAfterSleep(SuspendTestStore.REDIS, blind, true);
  }

  private void takeAfterSleep(SuspendTestStore kind, EngineRules rules, boolean taken)
      throws Exception {
    try (HazardContext hazardContext = stage()) {
      int port = kind.start(hazardContext);
      FaultInjectionProxy line = hazardContext.open(FaultInjectionProxy.to(port));
      LockStore store =
          hazardContext.open(LockStore.connect(StoreUrl.parse(kind.url(line.port()))));
      SuspendedHost host = new SuspendedHost(true);
      LockClient holder = hazardContext.open(host.client(store, TTL, rules));
      LockClient other = hazardContext.client(kind.url(port), "other", LONG);
      DistributedLock sticky =
          holder.lock(LOCK).with(LockOptions.DEFAULTS.withSticky(LockOptions.LONGEST_STICKY));
      sticky.acquireWithin(LONG).close();
      // Longer than the idle times of a lock that is acquired repeatedly.
      BoundedWait.pass(Duration.ofMillis(50));

      line.condition(NetworkCondition.FROZEN);
      host.suspend();
      Lease next = other.lock(LOCK).acquireWithin(LONG);
      // Its timers have not run yet.
      host.wakeClock(Duration.ZERO);
      CompletableFuture<Lease> again = sticky.acquireAsync(LONG);
      if (taken) {
        assertThat(again).succeedsWithin(LONG);
        return;
      }

      assertThat(again).as("when it wakes").isNotDone();
      line.condition(NetworkCondition.FAIR);
      host.wakeTimers();
      next.ensureValid();
      long token = next.token();
      next.close();
      try (Lease last = again.get(30, TimeUnit.SECONDS)) {
        assertThat(last.token()).isGreaterThan(token);
      }
    } catch (MissingProgramException e) {
      HazardRunner.skip(e);
    }
  }

  /** Returns the token, even of a lost lease. */
  private static long token(Lease lease) {
    return Long.parseLong(lease.toString().replaceAll(".*token=(\\d+).*", "$1"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenStoreThatSleepsWithItsHolder_whenTheyWake_thenItHoldsOn_andNobodyElseIsGranted(
      boolean tells) throws Exception {
    SuspendedHost host = new SuspendedHost(tells);
    try (LockStore store =
            new MemStore(
                EnumSet.allOf(Capability.class),
                host::nanos,
                System.currentTimeMillis() * 1000,
                TableRules.ALL);
        LockClient holder = host.client(store, TTL);
        LockClient other = host.client(store, TTL)) {
      Lease lease = holder.lock(LOCK).acquireWithin(LONG);
      CompletableFuture<Lease> waiting = other.lock(LOCK).acquireAsync();

      host.suspend();
      host.wake(Duration.ofHours(1));

      // Several renewals, of which the first detects the suspension.
      BoundedWait.pass(TTL);
      lease.ensureValid();
      assertThat(waiting).isNotDone();
      lease.close();
      try (Lease next = waiting.get(30, TimeUnit.SECONDS)) {
        next.ensureValid();
      }
    }
  }
}
