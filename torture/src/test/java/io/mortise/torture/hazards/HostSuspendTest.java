package io.mortise.torture.hazards;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.internal.table.MemStore;
import io.mortise.internal.table.TableRules;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.testkit.Unpaused;
import io.mortise.testkit.Waits;
import io.mortise.testkit.server.Relay;
import io.mortise.testkit.server.Relay.Weather;
import io.mortise.testkit.server.ZooKeeperServer;
import java.io.OutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A holder whose host sleeps for longer than the TTL, as a laptop does, or a frozen machine. */
@Unpaused
class HostSuspendTest {
  private static final Duration TTL = Duration.ofMillis(1500);
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final String LOCK = "invoice/42";

  private enum Store {
    REDIS("redis://127.0.0.1:%d"),
    REDIS_PLAIN("redis-plain://127.0.0.1:%d"),
    ZOOKEEPER("zk://127.0.0.1:%d?tick=100ms"),
    CURATOR("zk+curator://127.0.0.1:%d?tick=100ms&recipe=mutex&base=/locks");

    private final String url;

    Store(String url) {
      this.url = url;
    }

    int start(Stage stage) {
      return name().startsWith("REDIS")
          ? stage.redis().port()
          : stage
              .open(ZooKeeperServer.start(ZooKeeperServer.Setup.single().with("tickTime", "100")))
              .port();
    }

    String url(int port) {
      return url.formatted(port);
    }
  }

  private static Stage stage() {
    return new Stage(new PrintStream(OutputStream.nullOutputStream(), false, UTF_8), null);
  }

  @ParameterizedTest
  @EnumSource
  void givenHolderWhoseHostSleeps_whenItWakes_thenItsLeaseLooksValidForAMoment_andThenItIsTold(
      Store kind) throws Exception {
    try (Stage stage = stage()) {
      int port = kind.start(stage);
      // Nothing comes or goes while the host sleeps.
      Relay line = stage.open(Relay.to(port));
      LockStore store = stage.open(LockStore.connect(StoreUrl.parse(kind.url(line.port()))));
      SleepingHost host = new SleepingHost(true);
      LockClient holder = stage.open(host.client(store, TTL));
      LockClient other = stage.client(kind.url(port), "other", LONG);
      Lease lease = holder.lock(LOCK).acquireWithin(LONG);

      line.weather(Weather.FROZEN);
      host.suspend();
      Lease next = other.lock(LOCK).acquireWithin(LONG);

      assertThat(lease.isValid()).as("when it wakes").isTrue();
      line.weather(Weather.FAIR);
      host.wake(Duration.ZERO);
      Waits.until(LONG, "the holder was told", () -> lease.state() == Lease.State.LOST);
      next.ensureValid();
      if (kind != Store.REDIS_PLAIN) {
        assertThat(next.token()).isGreaterThan(token(lease));
      }
      next.close();
    } catch (MissingProgramException e) {
      Playing.skip(e);
    }
  }

  /** Of a lease that is lost, too. */
  private static long token(Lease lease) {
    return Long.parseLong(lease.toString().replaceAll(".*token=(\\d+).*", "$1"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenStoreThatSleepsWithItsHolder_whenTheyWake_thenItHoldsOn_andNobodyElseIsGranted(
      boolean tells) throws Exception {
    SleepingHost host = new SleepingHost(tells);
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

      // Several renewals, of which the first finds out how long it slept.
      Waits.pass(TTL);
      lease.ensureValid();
      assertThat(waiting).isNotDone();
      lease.close();
      try (Lease next = waiting.get(30, TimeUnit.SECONDS)) {
        next.ensureValid();
      }
    }
  }
}
