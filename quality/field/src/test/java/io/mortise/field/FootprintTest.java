package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.LocalServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads, connections, heap and keys of a client do not grow with its work. */
@Tag("long")
class FootprintTest {
  private static final Duration WARM_UP = Duration.ofSeconds(4);
  private static final Duration WORK =
      Duration.ofSeconds(Integer.getInteger("mortise.footprint.seconds", 15));

  /** The most documents that a client remembers. */
  private static final int REMEMBERED = 10_000;

  private static final int NAMES = 30_000;
  private static final int LEAKED = 20;

  @ParameterizedTest
  @EnumSource
  @Timeout(600)
  void givenLongWork_thenAClientKeepsWhatItKeptAfterAShortOne(FieldStore store) throws Exception {
    // The emulator is slow with many items.
    int names = store == FieldStore.DYNAMODB ? 1_000 : NAMES;
    try (LocalServer server = store.start();
        FaultInjectionProxy relay = FaultInjectionProxy.to(server.port());
        Workload work =
            new Workload(FieldStore.through(relay, server, store.newUrl(server)), relay, names)) {
      assertSteady(work, relay, () -> ServerKeys.count(store, server) - idleKeys(store, work));
    }
  }

  /** Keys that a store keeps for a while, of idle names and closed sessions. */
  private static long idleKeys(FieldStore store, Workload work) {
    return switch (store) {
      case MEMCACHED, ZOOKEEPER, DYNAMODB -> 0;
      case NATS -> work.idleNames() + work.closedClients();
      default -> work.idleNames();
    };
  }

  @ParameterizedTest
  @CsvSource({"REDIS, redis, redis-plain, ''", "ZOOKEEPER, zk, zk+curator, ?base=/curator"})
  @Timeout(600)
  void givenOtherLayout_thenTheSameHolds(
      FieldStore store, String scheme, String layout, String parameters) throws Exception {
    try (LocalServer server = store.start();
        FaultInjectionProxy relay = FaultInjectionProxy.to(server.port());
        Workload work =
            new Workload(
                FieldStore.through(relay, server, server.url().replace(scheme + ":", layout + ":"))
                    + parameters,
                relay,
                NAMES)) {
      assertSteady(work, relay, () -> ServerKeys.count(store, server));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"mem:kept", "quorum:mem:one,mem:two,mem:three", "jdbc:sqlite:FILE"})
  @Timeout(600)
  void givenStoreWithoutAServer_thenTheSameHolds(String url, @TempDir Path folder)
      throws Exception {
    String clientUrl = url.replace("FILE", folder.resolve("locks.db").toString());
    try (FaultInjectionProxy relay = FaultInjectionProxy.to(1);
        Workload work = new Workload(clientUrl, relay, REMEMBERED)) {
      LongSupplier keys =
          url.startsWith("jdbc:") ? () -> ServerKeys.rows(clientUrl) - work.idleNames() : () -> 0;
      assertSteady(work, relay, keys);
    }
  }

  private static void assertSteady(Workload work, FaultInjectionProxy relay, LongSupplier keys)
      throws Exception {
    Supplier<Footprint> reading = () -> Footprint.now(relay, keys.getAsLong());
    // Loads the JDK's trusted certificates, some 2 MB, which a client may load at any time.
    assertThat(SSLContext.getDefault()).isNotNull();
    work.take(Math.min(work.mostNames, REMEMBERED));
    work.run(WARM_UP);
    Footprint before = Footprint.settled(reading);
    work.run(WORK);
    Footprint after = reading.get();
    long end = System.nanoTime() + BoundedWait.scaled(Trial.LONG).toNanos();
    while (!after.growthSince(before).isEmpty() && System.nanoTime() < end) {
      BoundedWait.pass(Duration.ofSeconds(1));
      after = after.least(reading.get());
    }
    System.out.printf("%s: %s, then %s%n", work, before, after);
    assertThat(after.growthSince(before)).as("%s, then %s; %s", before, after, work).isEmpty();
  }

  @Test
  void givenClientsThatStayOpen_andEntriesThatStay_thenEachKindOfGrowthIsSeen() throws Exception {
    LocalServer server = FieldStore.REDIS.start();
    try (server;
        FaultInjectionProxy relay = FaultInjectionProxy.to(server.port())) {
      String url = FieldStore.through(relay, server, FieldStore.REDIS.newUrl(server));
      List<LockClient> clients = new ArrayList<>(List.of(Trial.client(url)));
      try {
        LockClient first = clients.get(0);
        Lease held = first.lock("held").acquireWithin(Trial.LONG);
        Supplier<Footprint> reading =
            () -> Footprint.now(relay, ServerKeys.count(FieldStore.REDIS, server));
        Footprint before = Footprint.settled(reading);
        leak(url, clients, held);
        List<String> growth = Footprint.settled(reading).growthSince(before);
        assertThat(growth.stream().map(line -> line.split(":", 2)[0]))
            .contains(
                "threads",
                "connections",
                "bytes",
                "keys",
                "io.mortise.internal.engine.state.Claim");
      } finally {
        clients.forEach(LockClient::close);
      }
    }
  }

  private static void leak(String url, List<LockClient> clients, Lease held)
      throws InterruptedException {
    for (int i = 0; i < LEAKED; i++) {
      LockClient client = Trial.client(url);
      clients.add(client);
      for (int j = 0; j < LEAKED; j++) {
        Lease unused = client.lock("leaked/" + i + "/" + j).acquireWithin(Trial.LONG);
      }
    }
    for (int i = 0; i < Footprint.MOST_BYTES / 20; i++) {
      byte[] entry = new byte[4];
      held.onLost(loss -> entry[0]++);
    }
  }
}
