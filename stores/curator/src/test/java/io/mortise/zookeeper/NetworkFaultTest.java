package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.Seed;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Lines that delay messages, lose them, or break at random, each direction by itself. */
class NetworkFaultTest {
  private static final Duration RUN =
      Duration.ofMillis(Long.getLong("mortise.lines.millis", 6_000));
  private static final Duration TTL = Duration.ofMillis(900);

  private static final List<NetworkCondition> FAULTS =
      Arrays.stream(NetworkCondition.values())
          .filter(networkCondition -> networkCondition != NetworkCondition.FAIR)
          .toList();

  private final List<FaultInjectionProxy> lines = new ArrayList<>();

  @AfterEach
  void closeLines() {
    lines.forEach(FaultInjectionProxy::close);
  }

  @Test
  void givenAddressThatLeadsToAnotherEnsembleAndBack_thenLocksAreRefusedByName() {
    try (ZooKeeperServer other = ZooKeeperServer.start(TestServer.setup())) {
      FaultInjectionProxy line = FaultInjectionProxy.to(TestServer.shared().port());
      lines.add(line);
      try (LockClient client =
          LockClient.builder()
              .url("zk://127.0.0.1:" + line.port() + "/another?tick=100ms")
              .ttl(TTL)
              .build()) {
        grant(client);
        line.lead(other.port());
        // It may be a new lock, as after a loss of all data.
        BoundedWait.until(
            TestServer.LONG,
            "the other grants",
            () -> grant(client) && other.ask("dump").contains("/another/"));
        line.lead(TestServer.shared().port());
        BoundedWait.until(
            TestServer.LONG,
            "locks were refused by name",
            () -> refusal(client).contains("Connections lead to different ensembles of ZooKeeper"));
      }
    }
  }

  private static boolean grant(LockClient client) {
    try {
      client.lock("x").acquireAsync(TestServer.LONG).join().close();
      return true;
    } catch (RuntimeException e) {
      return false;
    }
  }

  /** The message of a refused lock; empty if it was granted. */
  private static String refusal(LockClient client) {
    try {
      client.lock("x").acquireWithin(TestServer.LONG).close();
      return "";
    } catch (LockException e) {
      return String.valueOf(e.getMessage());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  @Timeout(180)
  void givenLinesThatAreHeldUpOrBreakAtRandom_thenCountersAreExact_beliefsDoNotOverlap_tokensRise()
      throws Exception {
    Seed seed = Seed.draw();
    System.out.println("NetworkFaultTest runs with " + seed);
    RandomGenerator random = seed.random();
    String server = TestServer.shared().address();
    List<GuardedCounter> counters = new ArrayList<>();
    for (Scheme scheme : Scheme.values()) {
      GuardedCounter counter = new GuardedCounter("lines-" + scheme.name());
      counters.add(counter);
      for (int i = 0; i < 3; i++) {
        FaultInjectionProxy line = FaultInjectionProxy.to(TestServer.shared().port());
        lines.add(line);
        counter.join(scheme.url("127.0.0.1:" + line.port(), "/lines"), TTL, server);
      }
    }
    counters.forEach(counter -> counter.awaitProgress("at first"));
    long end = System.nanoTime() + RUN.toNanos();
    while (System.nanoTime() < end) {
      // One of either layout at a time, so that some clients get on.
      List<FaultInjectionProxy> struck =
          List.of(lines.get(random.nextInt(3)), lines.get(3 + random.nextInt(3)));
      NetworkCondition networkCondition = FAULTS.get(random.nextInt(FAULTS.size()));
      struck.forEach(line -> line.condition(networkCondition));
      boolean deadly = random.nextInt(3) == 0;
      BoundedWait.pass(deadly ? TTL.multipliedBy(2) : Duration.ofMillis(random.nextInt(20, 500)));
      boolean breaks = random.nextInt(3) == 0;
      struck.forEach(
          line -> {
            line.condition(NetworkCondition.FAIR);
            if (breaks) {
              line.reset();
            }
          });
      BoundedWait.pass(Duration.ofMillis(random.nextInt(0, 300)));
    }
    counters.forEach(counter -> counter.awaitProgress("at last"));
    for (GuardedCounter counter : counters) {
      assertThat(counter.end(server)).as("with %s", seed).isEmpty();
      counter.close();
    }
  }

  /** The engine's own wait for an opening would be a third of the TTL. */
  @ParameterizedTest
  @EnumSource
  void givenServersThatFallSilentAfterOpening_whenTheFirstLockIsTried_thenItFailsByTheTimeout(
      Scheme scheme) {
    FaultInjectionProxy line = FaultInjectionProxy.to(TestServer.shared().port());
    lines.add(line);
    String url = scheme.url("127.0.0.1:" + line.port(), "/silent") + "&timeout=2s";
    try (LockClient client = LockClient.builder().url(url).ttl(Duration.ofSeconds(20)).build()) {
      line.condition(NetworkCondition.FROZEN);
      long start = System.nanoTime();
      assertThatThrownBy(() -> client.lock("a").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class);
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isLessThan(BoundedWait.scaled(Duration.ofSeconds(5)));
      line.condition(NetworkCondition.FAIR);
    }
  }
}
