package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.FakeClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The known objections to Redlock, on five real servers: each fault first breaks the published
 * algorithm, or its usual implementation, and then is tried on ours.
 */
@RerunIfPaused
@Tag("extended")
class RedlockFaultsTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofSeconds(4);
  private static final Duration HOUR = Duration.ofHours(1);

  /** Newly started servers have a vote at once, and a slow machine is no outage. */
  private static final String PATIENT = "member-timeout=3s&quarantine=0s";

  private final List<AutoCloseable> open = new ArrayList<>();
  private RedisMembers members;

  private void five() {
    members = opened(new RedisMembers(5));
  }

  private FakeClock fiveWithClock() {
    FakeClock clock = opened(TestPrerequisites.required(FakeClock.installed(), "libfaketime"));
    members = opened(RedisMembers.withClock(clock, 5));
    return clock;
  }

  private <T extends AutoCloseable> T opened(T resource) {
    open.add(0, resource);
    return resource;
  }

  @AfterEach
  void closeAll() throws Exception {
    if (members != null) {
      members.conditionFrom(0, NetworkCondition.FAIR);
    }
    List<AutoCloseable> all = List.copyOf(open);
    open.clear();
    members = null;
    for (AutoCloseable resource : all) {
      resource.close();
    }
  }

  /** By lines that can be cut. */
  private LockClient far(Duration ttl, String parameters) throws Exception {
    return warm(LockClient.builder().url(members.farUrl(parameters)).ttl(ttl).build());
  }

  private LockClient near(Duration ttl, String parameters) throws Exception {
    return warm(LockClient.builder().url(members.url(parameters)).ttl(ttl).build());
  }

  private LockClient warm(LockClient client) throws Exception {
    opened(client);
    client.lock("warm").acquireWithin(LONG).close();
    return client;
  }

  private PublishedRedlock naive(List<Integer> ports, Duration patience) {
    return opened(new PublishedRedlock(ports, patience));
  }

  private static ConcurrentLinkedQueue<LeaseLostException> losses(Lease lease) {
    ConcurrentLinkedQueue<LeaseLostException> losses = new ConcurrentLinkedQueue<>();
    lease.onLost(losses::add);
    return losses;
  }

  // ---- The clock of one member is set ----

  @Test
  void givenVotesOfThree_whenTheClockOfOneOfThemIsSetForward_thenTwoNaiveClientsBelieve() {
    FakeClock clock = fiveWithClock();
    PublishedRedlock a = naive(members.ports(), LONG);
    PublishedRedlock b = naive(members.ports(), LONG);
    // The two are down while A acquires: its votes are of the first two and the one with the clock.
    PublishedRedlock early = naive(members.ports().subList(2, 4), LONG);
    assertThat(early.acquire("x", LONG)).isTrue();
    assertThat(a.acquire("x", LONG)).isTrue();
    members.server(2).ask("DEL", "x");
    members.server(3).ask("DEL", "x");
    assertThat(b.acquire("x", LONG)).isFalse();
    clock.set(HOUR);
    assertThat(b.acquire("x", LONG)).isTrue();
    assertThat(a.believes()).as("the first").isTrue();
    assertThat(b.believes()).as("the second").isTrue();
  }

  @Test
  void
      givenVotesOfThree_whenTheClockOfOneOfThemIsSetForward_thenTheNextIsFencedOff_andTheFirstTold()
          throws Exception {
    FakeClock clock = fiveWithClock();
    LockClient a = far(LONG, PATIENT);
    members.lines.get(2).condition(NetworkCondition.FROZEN);
    members.lines.get(3).condition(NetworkCondition.FROZEN);
    Lease first = a.lock("x").acquireWithin(LONG);
    ConcurrentLinkedQueue<LeaseLostException> losses = losses(first);
    long token = first.token();
    assertThat(near(LONG, PATIENT).lock("x").tryAcquire()).as("before").isEmpty();
    clock.set(HOUR);
    // A new client: earlier ones have to open their sessions anew there too.
    try (Lease next = near(LONG, PATIENT).lock("x").acquireWithin(LONG)) {
      assertThat(next.token()).as("what the resource goes by").isGreaterThan(token);
      await().atMost(LONG).until(() -> !losses.isEmpty());
      assertThat(first.isValid()).isFalse();
    }
    assertThatThrownBy(first::close).isInstanceOf(LeaseLostException.class);
  }

  @Test
  void givenStrictExpiry_whenTheClockOfAMemberIsSetForwardAndBack_thenTheHolderKeepsTheLock()
      throws Exception {
    FakeClock clock = fiveWithClock();
    String strict = PATIENT + "&strict-expiry=true";
    LockClient a = far(SHORT, strict);
    members.lines.get(2).condition(NetworkCondition.FROZEN);
    members.lines.get(3).condition(NetworkCondition.FROZEN);
    try (Lease first = a.lock("x").acquireWithin(LONG)) {
      for (Duration jump : List.of(HOUR, HOUR.negated())) {
        clock.set(jump);
        LockClient late = near(SHORT, strict);
        assertThat(late.lock("x").tryAcquire(SHORT.plusSeconds(1))).as("after %s", jump).isEmpty();
        first.ensureValid();
      }
    }
  }

  @Test
  void givenMemberWhoseClockIsSetBack_thenAHolderKeepsTheLock_andWhenItDiesTheOthersAreEnough()
      throws Exception {
    FakeClock clock = fiveWithClock();
    LockClient a = far(SHORT, PATIENT);
    Lease first = a.lock("x").acquireWithin(LONG);
    long token = first.token();
    clock.set(HOUR.negated());
    LockClient late = near(LONG, PATIENT);
    assertThat(late.lock("x").tryAcquire(SHORT.plusSeconds(1))).isEmpty();
    first.ensureValid();
    members.conditionFrom(0, NetworkCondition.FROZEN);
    try (Lease next = late.lock("x").acquireWithin(LONG)) {
      assertThat(first.isValid()).isFalse();
      assertThat(next.token()).isGreaterThan(token);
    }
  }

  // ---- A client that reaches one member only ----

  @Test
  void givenClientCutOffFromAllButOne_thenANaiveWatchdogGoesOn_andAnotherHoldsToo() {
    five();
    Duration ttl = Duration.ofSeconds(1);
    PublishedRedlock a = naive(members.farPorts(), Duration.ofMillis(100));
    PublishedRedlock b = naive(members.ports(), LONG);
    assertThat(a.acquire("x", ttl)).isTrue();
    members.conditionFrom(1, NetworkCondition.FROZEN);
    await()
        .atMost(LONG)
        .until(
            () -> {
              assertThat(a.extend("x", LONG)).as("the watchdog is told that all is well").isTrue();
              return b.acquire("x", LONG);
            });
    assertThat(b.believes()).isTrue();
    assertThat(a.extend("x", LONG)).isTrue();
  }

  @Test
  void givenClientCutOffFromAllButOne_thenItsLeaseIsOverBeforeAnotherIsGranted_andItComesBack()
      throws Exception {
    five();
    LockClient a = far(SHORT, PATIENT);
    LockClient b = near(LONG, PATIENT);
    Lease first = a.lock("x").acquireWithin(LONG);
    ConcurrentLinkedQueue<LeaseLostException> losses = losses(first);
    long token = first.token();
    members.conditionFrom(1, NetworkCondition.FROZEN);
    try (Lease next = b.lock("x").acquireWithin(LONG)) {
      assertThat(first.isValid()).isFalse();
      assertThat(next.token()).isGreaterThan(token);
      await().atMost(LONG).until(() -> !losses.isEmpty());
    }
    members.conditionFrom(1, NetworkCondition.FAIR);
    await().atMost(LONG).until(() -> acquires(a, "x"));
  }

  private static boolean acquires(LockClient client, String name) throws InterruptedException {
    try {
      Optional<Lease> lease = client.lock(name).tryAcquire(Duration.ofSeconds(1));
      lease.ifPresent(Lease::close);
      return lease.isPresent();
    } catch (LockException e) {
      return false;
    }
  }

  // ---- A network slower than the TTL ----

  @Test
  void givenNetworkSlowerThanTheTtl_thenTwoHoldWhoDoNotLookHowLongItTook() {
    five();
    // An answer alone takes 20 ms at least.
    Duration ttl = Duration.ofMillis(15);
    PublishedRedlock a = naive(members.farPorts(), LONG);
    PublishedRedlock b = naive(members.ports(), LONG);
    members.conditionFrom(0, NetworkCondition.SLOW);
    assertThat(a.acquire("x", ttl)).isTrue();
    assertThat(b.acquire("x", LONG)).isTrue();
    assertThat(a.believes()).as("who does look knows better").isFalse();
  }

  @Test
  void givenNetworkSlowerThanTheTtl_thenNothingIsGranted_whatWasHeldIsLostInTime_andNothingIsLeft()
      throws Exception {
    five();
    LockClient a = far(SHORT, PATIENT);
    LockClient b = near(LONG, PATIENT);
    Lease held = a.lock("held").acquireWithin(LONG);
    long token = held.token();
    // All requests sent from now on arrive after more than a TTL.
    members.conditionFrom(0, NetworkCondition.FROZEN);
    assertThatThrownBy(() -> a.lock("x").tryAcquire().ifPresent(Lease::ensureValid))
        .isInstanceOf(LockException.class);
    try (Lease next = b.lock("held").acquireWithin(LONG)) {
      assertThat(held.isValid()).isFalse();
      assertThat(next.token()).isGreaterThan(token);
    }
    members.conditionFrom(0, NetworkCondition.FAIR);
    b.lock("x").acquireWithin(LONG).close();
    await().atMost(LONG).until(() -> acquires(a, "x"));
  }

  // ---- Members that forget ----

  @Test
  void givenRestartsWithoutPersistence_thenTwoNaiveClientsBelieve_byTwoMajorities() {
    five();
    PublishedRedlock a = naive(members.ports(), LONG);
    PublishedRedlock b = naive(members.ports(), LONG);
    members.server(3).kill();
    members.server(4).kill();
    assertThat(a.acquire("x", LONG)).isTrue();
    members.server(3).restart();
    members.server(4).restart();
    assertThat(b.acquire("x", LONG)).as("as long as three remember").isFalse();
    members.server(2).kill();
    members.server(2).restart();
    assertThat(b.acquire("x", LONG)).isTrue();
    assertThat(a.believes()).as("the first").isTrue();
    assertThat(a.votes("x")).as("which stands where nothing was forgotten").isEqualTo(2);
  }

  @Test
  void givenRestartsWithoutPersistence_thenNobodyElseIsGrantedBeforeTheFirstCeasesToBelieve()
      throws Exception {
    five();
    Duration ttl = Duration.ofSeconds(5);
    String quarantined = "member-timeout=3s&quarantine=5s";
    LockClient a = far(ttl, quarantined);
    members.server(3).kill();
    members.server(4).kill();
    Lease first = a.lock("x").acquireWithin(LONG);
    long token = first.token();
    members.server(3).restart();
    members.server(4).restart();
    LockClient b = opened(LockClient.builder().url(members.url(quarantined)).ttl(ttl).build());
    // The two are empty, and have a vote again in five seconds.
    await().atMost(LONG).until(() -> acquires(b, "free"));
    await().pollDelay(Duration.ofSeconds(6)).atMost(LONG).until(() -> acquires(b, "free"));
    assertThat(b.lock("x").tryAcquire()).isEmpty();
    members.server(2).kill();
    members.server(2).restart();
    try (Lease next = b.lock("x").acquireWithin(LONG)) {
      assertThat(first.isValid()).isFalse();
      assertThat(next.token()).isGreaterThan(token);
    }
  }

  @Test
  void givenQuarantineShorterThanTheTtl_thenTheClientIsRefused() {
    five();
    assertThatThrownBy(
            () ->
                LockClient.builder()
                    .url(members.url("quarantine=9s"))
                    .ttl(Duration.ofSeconds(10))
                    .build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("quarantine of 9s");
  }

  // ---- What arrives late ----

  @Test
  void givenPartitionThatHeals_thenLateCommandsOfANaiveClientShutTheLock_forNobody() {
    five();
    PublishedRedlock a = naive(members.farPorts(), Duration.ofMillis(200));
    PublishedRedlock b = naive(members.ports(), LONG);
    members.conditionFrom(2, NetworkCondition.FROZEN);
    assertThat(a.acquire("x", LONG)).isFalse();
    members.conditionFrom(2, NetworkCondition.FAIR);
    await().atMost(LONG).until(() -> a.votes("x") == 3);
    assertThat(b.acquire("x", LONG)).isFalse();
  }

  @Test
  void givenPartitionThatHeals_thenLateCommandsDoNotShutTheLock() throws Exception {
    five();
    // None of its holds ends by itself as long as it lives.
    LockClient a = far(Duration.ofMinutes(5), "member-timeout=1s&quarantine=0s");
    LockClient b = near(LONG, PATIENT);
    members.conditionFrom(2, NetworkCondition.FROZEN);
    assertThatThrownBy(() -> a.lock("x").tryAcquire()).isInstanceOf(LockException.class);
    members.conditionFrom(2, NetworkCondition.FAIR);
    b.lock("x").acquireWithin(LONG).close();
    await().atMost(LONG).until(() -> acquires(a, "x"));
    b.lock("x").acquireWithin(LONG).close();
  }
}
