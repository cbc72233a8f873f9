package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.spi.SessionId;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Sessions are listed with their process, including those without holds and waits. */
class SessionListSuite extends StoreSuite {
  SessionListSuite(StoreUnderTest under) {
    super(under);
  }

  @Test
  void givenSessionThatHoldsAndWaitsForNothing_thenItIsListedWithItsProcess() {
    needsSessionList();
    SessionDriver idle = session("idle „é“");
    SessionInfo found = listed(idle.id());
    assertThat(found.client()).isEqualTo(new ClientInfo("testhost", 4711, "idle „é“"));
    assertThat(found.ttl()).isIn(LONG, Duration.ZERO);
    assertThat(found.left()).isBetween(Duration.ofMinutes(4), LONG);
  }

  @Test
  void givenHolder_thenItsAttemptBeginsWithTheIdOfItsSession() {
    needsSessionList();
    SessionDriver a = session("a");
    String attempt = a.hold(LOCK, EX).attempt().encoded();
    assertThat(attempt).startsWith(listed(a.id()).session());
  }

  @Test
  void givenManySessions_thenPagesShowEachOnce_andNoneIsTooLong() {
    needsSessionList();
    List<String> opened = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      opened.add(session("many").id().value());
    }
    assertThat(all(2)).extracting(SessionInfo::session).containsAll(opened);
    assertThat(all(1000)).extracting(SessionInfo::session).containsAll(opened);
  }

  @Test
  void givenClosedSession_thenItIsListedAsOverOrNotAtAll() {
    needsSessionList();
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.close();
    assertThat(all(1000))
        .filteredOn(info -> info.session().equals(a.id().value()))
        .allSatisfy(info -> assertThat(info.left()).isZero());
    assertThat(listed(b.id()).left()).isPositive();
  }

  @Test
  void givenDeadSession_thenItIsListedAsOverOrNotAtAll() {
    needsSessionList();
    SessionDriver a = shortSession("a");
    outliveSession();
    assertThat(all(1000))
        .filteredOn(info -> info.session().equals(a.id().value()))
        .allSatisfy(info -> assertThat(info.left()).isZero());
  }

  @Test
  void givenStoreThatCannotListSessions_thenItRefuses() {
    Assumptions.assumeFalse(under.listsSessions(), "the store lists sessions");
    assertThat(store().sessions(null, 10))
        .failsWithin(BoundedWait.ANSWER)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(UnsupportedByStoreException.class)
        .withMessageContaining(store().profile().display());
  }

  private void needsSessionList() {
    Assumptions.assumeTrue(under.listsSessions(), "the store lists no sessions");
  }

  private SessionInfo listed(SessionId id) {
    return all(1000).stream()
        .filter(info -> info.session().equals(id.value()))
        .findFirst()
        .orElseThrow(() -> new AssertionError("Session " + id + " is not listed."));
  }

  private List<SessionInfo> all(int limit) {
    List<SessionInfo> found = new ArrayList<>();
    String cursor = null;
    for (int page = 0; page < 10_000; page++) {
      Page<SessionInfo> next = BoundedWait.join(store().sessions(cursor, limit));
      assertThat(next.items()).hasSizeLessThanOrEqualTo(limit);
      found.addAll(next.items());
      cursor = next.next();
      if (cursor == null) {
        return found;
      }
    }
    throw new AssertionError("There is no last page.");
  }
}
