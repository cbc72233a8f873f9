package io.mortise.simulation.toy;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import io.mortise.admin.LockQuery;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionVerdict;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import io.mortise.testkit.SessionDriver;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The number of requests of a step, none of them skipped where it matters. */
class ClocklessToyStoreRequestsTest {
  private static final LockName LOCK = LockName.of("lock");
  private static final Duration TTL = Duration.ofMinutes(5);
  private static final Mode EX = Mode.EXCLUSIVE;
  private static final String READ = "read";
  private static final String WRITE = "compareAndSet";
  private static final String TOGETHER = "compareAndSetAll";
  private static final String CLOSE = "close";

  private final ManualTime time = new ManualTime();
  private final ClocklessToyDocuments server = new ClocklessToyDocuments();
  private final List<String> requests = new ArrayList<>();
  private final SessionDriver a =
      SessionDriver.open(ClocklessToyStoreUnderTest.open(counted(), time), TTL, "a");
  private final LockStore other = ClocklessToyStoreUnderTest.open(server, time);

  private VersionedDocuments counted() {
    return (VersionedDocuments)
        Proxy.newProxyInstance(
            VersionedDocuments.class.getClassLoader(),
            new Class<?>[] {VersionedDocuments.class},
            (proxy, method, arguments) -> {
              if (List.of(READ, WRITE, TOGETHER, CLOSE).contains(method.getName())) {
                requests.add(method.getName());
              }
              return method.invoke(server, arguments);
            });
  }

  private List<String> requests() {
    List<String> sent = List.copyOf(requests);
    requests.clear();
    return sent;
  }

  /** Acquires and releases a lock; returns its token. */
  private static long use(SessionDriver session) {
    Reply.Granted granted = session.hold(LOCK, EX);
    session.end(LOCK, granted.attempt());
    return granted.token();
  }

  private SessionVerdict judge() {
    return BoundedWait.join(other.judge(a.id()));
  }

  @Test
  void givenLockThatThisProcessUsedLast_thenAcquireReleaseAndRenewalAreOneWriteEach() {
    requests();
    AttemptId first = a.hold(LOCK, EX).attempt();
    assertThat(requests()).as("of a lock that was never met").containsExactly(READ, WRITE);
    a.end(LOCK, first);
    assertThat(requests()).containsExactly(WRITE);
    AttemptId second = a.hold(LOCK, EX).attempt();
    assertThat(requests()).containsExactly(WRITE);
    a.end(LOCK, second);
    assertThat(requests()).containsExactly(WRITE);
    assertThat(a.renew()).isInstanceOf(Renewal.Renewed.class);
    // The toy's watch reports own writes too, which are then read.
    assertThat(requests()).containsOnlyOnce(WRITE).startsWith(WRITE);
  }

  @Test
  void givenLockThatAnotherProcessUsedSince_thenTheWriteFromMemoryFails_andTheTokenRises() {
    use(a);
    long token = use(SessionDriver.open(other, TTL, "b"));
    requests();
    assertThat(a.hold(LOCK, EX).token()).isGreaterThan(token);
    assertThat(requests()).containsExactly(WRITE, WRITE);
  }

  @Test
  void givenLockThatAnotherProcessHolds_whenItIsAskedForFromMemory_thenItIsBusy() {
    use(a);
    SessionDriver b = SessionDriver.open(other, TTL, "b");
    AttemptId held = b.hold(LOCK, EX).attempt();
    assertThat(a.acquire(LOCK, a.attempt(), EX)).isInstanceOf(Reply.Busy.class);
    b.end(LOCK, held);
    assertThat(a.hold(LOCK, EX).token()).isPositive();
  }

  @Test
  void givenHolderThatWasToldOfAWaiter_thenItLooksAtOnce_andItsReleaseIsOneWrite() {
    AttemptId held = a.hold(LOCK, EX).attempt();
    requests();
    SessionDriver b = SessionDriver.open(other, TTL, "b");
    b.queued(LOCK, EX);
    a.hints().await(1);
    assertThat(requests()).as("the lock and the waiter").containsExactly(READ, READ);
    a.end(LOCK, held);
    assertThat(requests()).as("the lock, the grant and the note").containsExactly(TOGETHER);
    b.hints().await(1);
  }

  @Test
  void givenHolderThatWasToldOfAWaiter_whenItsSessionIsClosed_thenAnotherFindsItGone() {
    SessionDriver b = SessionDriver.open(other, TTL, "b");
    b.hold(LOCK, EX);
    assertThat(left(a.acquire(LOCK, a.attempt(), EX))).isPositive();
    b.close();
    assertThat(left(a.acquire(LOCK, a.attempt(), EX)))
        .as("the session is read, not taken from memory")
        .isZero();
  }

  private static Duration left(Reply reply) {
    assertThat(reply).isInstanceOf(Reply.Busy.class);
    Reply.Holder holder = ((Reply.Busy) reply).holder();
    assertThat(holder).isNotNull();
    return holder.sessionLeft();
  }

  @Test
  void givenStoreThatIsClosedTwice_thenItsDocumentsAreClosedOnce() {
    LockStore store = ClocklessToyStoreUnderTest.open(counted(), time);
    requests();
    store.close();
    store.close();
    assertThat(requests()).containsExactly(CLOSE);
  }

  @Test
  void givenSessionThatHoldsManyLocks_whenAPageShowsThem_thenItIsReadOnce() {
    SessionDriver b = SessionDriver.open(other, TTL, "b");
    for (int i = 0; i < 40; i++) {
      b.hold(LockName.of("held/" + i), EX);
    }
    LockStore viewer = ClocklessToyStoreUnderTest.open(counted(), time);
    requests();
    assertThat(BoundedWait.join(viewer.inspect(LockQuery.beginningWith("held/"))).items())
        .hasSize(40)
        .allSatisfy(lock -> assertThat(lock.holders()).hasSize(1));
    assertThat(requests()).containsExactly(READ);
  }

  @Test
  void givenSessionThatWasEndedAfterItsTtl_whenItAsks_thenItIsReadAndRefused() {
    use(a);
    assertThat(judge()).isInstanceOf(SessionVerdict.Alive.class);
    time.advance(TTL.plusSeconds(1));
    assertThat(judge()).isInstanceOf(SessionVerdict.SessionEnded.class);
    requests();
    assertThat(a.acquire(LOCK, a.attempt(), EX)).isInstanceOf(Reply.Refused.class);
    assertThat(requests()).contains(READ);
    assertThat(a.renew()).isInstanceOf(Renewal.Lost.class);
  }
}
