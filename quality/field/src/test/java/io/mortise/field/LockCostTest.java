package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.StoreInfo.Feature;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.LocalServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table in {@code a-million-locks.md}: heap and entries for each lock, waiter and name. */
@Tag("long")
class LockCostTest {
  private static final int LOCKS = 1_000;

  private static final Cost MOST_OF_A_HOLD = new Cost(800, 1, 500);
  private static final Cost MOST_OF_A_WAITER = new Cost(5_000, 2, 400);
  private static final Cost MOST_OF_A_NAME = new Cost(1_000, 1, 400);

  /**
   * The cost of one lock, waiter or name.
   *
   * @param heap of the client, in bytes
   * @param keys or rows at the server
   * @param bytes of those, if the server reports them
   */
  private record Cost(long heap, long keys, long bytes) {
    boolean isWithin(Cost most) {
      return heap <= most.heap && keys <= most.keys && bytes <= most.bytes;
    }

    Cost since(Cost before) {
      return new Cost(
          Math.round((heap - before.heap) / (double) LOCKS),
          Math.round((keys - before.keys) / (double) LOCKS),
          Math.round((bytes - before.bytes) / (double) LOCKS));
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DYNAMODB")
  @Timeout(300)
  void givenLocksThatAreHeld_thenWaitedFor_thenIdle_thenNoneCostsSeveralTimesWhatThePageSays(
      FieldStore store) throws Exception {
    try (LocalServer server = store.start();
        FaultInjectionProxy relay = FaultInjectionProxy.to(server.port())) {
      String url = FieldStore.through(relay, server, store.newUrl(server));
      try (LockClient holder = Trial.client(url);
          LockClient waiter = Trial.client(url)) {
        List<Lease> leases = new ArrayList<>(LOCKS);
        List<CompletableFuture<Lease>> waits = new ArrayList<>(LOCKS);
        hold(holder, "warm-up", LOCKS, leases);
        await(waiter, "warm-up", LOCKS, waits);
        end(leases, waits);

        Cost before = cost(store, server, relay);
        hold(holder, "invoice", LOCKS, leases);
        Cost held = cost(store, server, relay);
        await(waiter, "invoice", LOCKS, waits);
        Cost awaited = cost(store, server, relay);
        end(leases, waits);
        Cost idle = cost(store, server, relay);
        System.out.printf(
            "%s: held %s, waiter %s, idle %s%n",
            store, held.since(before), awaited.since(held), idle.since(before));
        assertThat(held.since(before)).matches(cost -> cost.isWithin(MOST_OF_A_HOLD));
        assertThat(awaited.since(held)).matches(cost -> cost.isWithin(MOST_OF_A_WAITER));
        assertThat(idle.since(before)).matches(cost -> cost.isWithin(MOST_OF_A_NAME));
      }
    }
  }

  private static String name(String kind, int number) {
    return String.format(Locale.ROOT, "%s/%05d", kind, number);
  }

  private static void hold(LockClient client, String kind, int count, List<Lease> leases) {
    List<CompletableFuture<Lease>> acquires = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      acquires.add(client.lock(name(kind, i)).acquireAsync(Trial.LONG));
    }
    acquires.forEach(acquire -> leases.add(BoundedWait.join(acquire)));
  }

  private static void await(
      LockClient client, String kind, int count, List<CompletableFuture<Lease>> waits) {
    for (int i = 0; i < count; i++) {
      waits.add(client.lock(name(kind, i)).acquireAsync());
    }
    if (client.admin().store().has(Feature.QUEUE)) {
      for (int i = 0; i < count; i += count / 20) {
        String name = name(kind, i);
        BoundedWait.until(Trial.LONG, "the store knows the waiter", () -> isAwaited(client, name));
      }
    }
  }

  /** Also false while the store is busy with the crowd. */
  private static boolean isAwaited(LockClient client, String name) {
    try {
      return client.admin().find(name).orElseThrow().waiterCount() == 1;
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  private static void end(List<Lease> leases, List<CompletableFuture<Lease>> waits) {
    waits.forEach(wait -> wait.cancel(true));
    waits.clear();
    List<CompletableFuture<Void>> releases = leases.stream().map(Lease::releaseAsync).toList();
    releases.forEach(BoundedWait::join);
    leases.clear();
  }

  private static Cost cost(FieldStore store, LocalServer server, FaultInjectionProxy relay) {
    Footprint footprint =
        Footprint.settled(() -> Footprint.now(relay, ServerKeys.count(store, server)));
    return new Cost(footprint.bytes(), footprint.keys(), ServerKeys.bytes(store, server));
  }
}
