package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionVerdict;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Dead waiters delay no others: a hand-off skips processes without a connection, and a session may
 * be short while its process waits.
 */
class WaiterLivenessSuite extends StoreSuite {
  WaiterLivenessSuite(StoreUnderTest under) {
    super(under);
  }

  /** A session of another process, whose connection is known to the store. */
  private SessionDriver in(LockStore process, String client) {
    return connected(SessionDriver.open(process, LONG, client));
  }

  private SessionDriver connected(SessionDriver driver) {
    renewed(driver.renew());
    under.awaitConnection(driver.id(), true);
    // A renewal tells the store that a missing connection is significant from now on.
    renewed(driver.renew());
    return driver;
  }

  /** Session a holds the lock; b is in another process, which can be killed. */
  private record ContendedLock(
      SessionDriver a, AttemptId held, LockStore process, SessionDriver b) {
    void release() {
      a.end(LOCK, held);
    }
  }

  private ContendedLock scene() {
    needs(Capability.QUEUE, Capability.SKIPS_DISCONNECTED);
    SessionDriver a = session("a");
    AttemptId held = a.hold(LOCK, EX).attempt();
    LockStore process = under.another();
    return new ContendedLock(a, held, process, in(process, "b"));
  }

  /** Closes the connections of a process, as its death does. */
  private void kill(LockStore process, SessionDriver... sessions) {
    process.close();
    for (SessionDriver session : sessions) {
      under.awaitConnection(session.id(), false);
    }
  }

  @Test
  void givenRenewalForAShorterTime_thenTheSessionEndsThen() {
    needs(Capability.VARIABLE_TTL);
    SessionDriver a = session("a");
    renewed(a.renew(shortTtl()));
    outliveSession();
    assertThat(judge(a)).isInstanceOf(SessionVerdict.SessionEnded.class);
    assertThat(a.renew()).isInstanceOf(Renewal.Lost.class);
  }

  @Test
  void givenRenewalForAShorterTime_whenTheNextIsForTheWholeTtl_thenTheSessionLivesOn() {
    needs(Capability.VARIABLE_TTL);
    SessionDriver a = session("a");
    AttemptId held = a.hold(LOCK, EX).attempt();
    renewed(a.renew(LONG.dividedBy(2)));
    assertThat(judge(a))
        .isInstanceOfSatisfying(
            SessionVerdict.Alive.class,
            alive -> assertThat(alive.left()).isLessThanOrEqualTo(LONG.dividedBy(2)));
    renewed(a.renew());
    assertThat(judge(a))
        .isInstanceOfSatisfying(
            SessionVerdict.Alive.class,
            alive -> assertThat(alive.left()).isGreaterThan(LONG.dividedBy(2)));
    assertThat(holders(LOCK)).containsExactly(held);
  }

  @Test
  void givenKilledHead_whenTheHolderReleases_thenTheNextConnectedWaiterHolds() {
    ContendedLock contendedLock = scene();
    SessionDriver c = session("c");
    AttemptId dead = contendedLock.b().queued(LOCK, EX);
    AttemptId live = c.queued(LOCK, EX);
    kill(contendedLock.process(), contendedLock.b());
    contendedLock.release();
    assertThat(holders(LOCK)).containsExactly(live);
    assertThat(waiters(LOCK)).as("who is passed keeps its place").containsExactly(dead);
  }

  @Test
  void givenKilledHeadWithTenDeadBehindIt_whenTheHolderReleases_thenTheNextConnectedWaiterHolds() {
    ContendedLock contendedLock = scene();
    SessionDriver c = session("c");
    List<AttemptId> dead = new ArrayList<>();
    SessionDriver d = in(contendedLock.process(), "d");
    for (int i = 0; i < 11; i++) {
      dead.add((i % 2 == 0 ? contendedLock.b() : d).queued(LOCK, EX));
    }
    AttemptId live = c.queued(LOCK, EX);
    kill(contendedLock.process(), contendedLock.b(), d);
    contendedLock.release();
    assertThat(holders(LOCK)).containsExactly(live);
    assertThat(waiters(LOCK)).containsExactlyElementsOf(dead);
  }

  @Test
  void givenMoreKilledWaitersThanAStepLooksAt_whenTheHolderReleases_thenNothingIsLeftToDo() {
    ContendedLock contendedLock = scene();
    for (int i = 0; i < 70; i++) {
      contendedLock.b().queued(LOCK, EX);
    }
    kill(contendedLock.process(), contendedLock.b());
    Reply ended = contendedLock.a().ask(new Request.Abandon(LOCK, contendedLock.held()));
    assertThat(ended)
        .as("who is told to come back would do so as long as they live")
        .isInstanceOfSatisfying(Reply.Ended.class, e -> assertThat(e.more()).isFalse());
  }

  @Test
  void givenOnlyKilledWaiters_whenTheHolderReleases_thenANewcomerHolds() {
    ContendedLock contendedLock = scene();
    SessionDriver c = session("c");
    AttemptId dead = contendedLock.b().queued(LOCK, EX);
    kill(contendedLock.process(), contendedLock.b());
    contendedLock.release();
    assertThat(holders(LOCK)).isEmpty();
    AttemptId live = granted(c.acquire(LOCK, c.attempt(), EX)).attempt();
    assertThat(waiters(LOCK)).containsExactly(dead);
    assertThat(only(SessionNotification.Contended.class, c.notifications()))
        .as("the answer alone may be lost, and nobody would tell a leftover")
        .extracting(SessionNotification::attempt)
        .containsExactly(live);
    AttemptId next = contendedLock.a().queued(LOCK, EX);
    c.end(LOCK, live);
    assertThat(holders(LOCK)).containsExactly(next);
  }

  @Test
  void givenKilledWriterAheadOfReaders_whenTheHolderReleases_thenTheReadersHold() {
    needs(Capability.SHARED);
    ContendedLock contendedLock = scene();
    SessionDriver c = session("c");
    AttemptId dead = contendedLock.b().queued(LOCK, EX);
    AttemptId first = c.queued(LOCK, SH);
    AttemptId second = c.queued(LOCK, SH);
    kill(contendedLock.process(), contendedLock.b());
    contendedLock.release();
    assertThat(holders(LOCK)).containsExactlyInAnyOrder(first, second);
    assertThat(waiters(LOCK)).containsExactly(dead);
  }

  @Test
  @Tag("retried-attempt-granted-once")
  void givenHeadThatWasPassed_whenItConnectsAgain_thenItIsTheNextThatHolds() {
    ContendedLock contendedLock = scene();
    SessionDriver c = session("c");
    AttemptId head = contendedLock.b().queued(LOCK, EX);
    AttemptId next = c.queued(LOCK, EX);
    AttemptId last = c.queued(LOCK, EX);
    kill(contendedLock.process(), contendedLock.b());
    contendedLock.release();
    assertThat(holders(LOCK)).containsExactly(next);

    SessionDriver again = connected(contendedLock.b().twin(store()));
    queued(again.enqueue(LOCK, head, EX));
    c.end(LOCK, next);
    assertThat(holders(LOCK)).containsExactly(head);
    assertThat(waiters(LOCK)).containsExactly(last);
    again.close();
  }

  @Test
  void givenDisconnectedHeadOfAFreeLock_whenItsOwnRequestComes_thenItHolds() {
    ContendedLock contendedLock = scene();
    AttemptId head = contendedLock.b().queued(LOCK, EX);
    kill(contendedLock.process(), contendedLock.b());
    contendedLock.release();
    assertThat(holders(LOCK)).isEmpty();
    SessionDriver again = contendedLock.b().twin(store());
    granted(again.enqueue(LOCK, head, EX));
    again.end(LOCK, head);
    assertFree(LOCK, contendedLock.a());
    again.close();
  }
}
