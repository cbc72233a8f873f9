package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionVerdict;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.PauseDetector;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;

/**
 * The base of the suites of {@link LockStoreContract}: a store, sessions a, b and c, and
 * assertions.
 */
abstract class StoreSuite {
  static final LockName LOCK = LockName.of("invoice/42");
  static final LockName OTHER = LockName.of("invoice/43");
  static final Mode EX = Mode.EXCLUSIVE;
  static final Mode SH = Mode.SHARED;

  /** Long enough that nothing expires during a test. */
  static final Duration LONG = Duration.ofMinutes(5);

  final StoreUnderTest under;
  @Nullable LockStore opened;
  private final List<SessionDriver> sessions = new ArrayList<>();

  StoreSuite(StoreUnderTest under) {
    this.under = under;
  }

  @BeforeEach
  void openStore() {
    opened = under.open();
  }

  @AfterEach
  void closeStore() {
    try {
      // Concurrently: with some clients each close takes a tenth of a second.
      sessions.stream().map(driver -> driver.session().close()).toList().forEach(BoundedWait::join);
    } finally {
      // Null if its server is missing: then the test was skipped.
      if (opened != null) {
        opened.close();
      }
      under.close();
    }
  }

  final LockStore store() {
    if (opened == null) {
      throw new IllegalStateException("The store is not open.");
    }
    return opened;
  }

  final void needs(Capability... capabilities) {
    for (Capability capability : capabilities) {
      Assumptions.assumeTrue(
          under.capabilities().contains(capability), "the store has no " + capability);
    }
  }

  final boolean can(Capability capability) {
    return under.capabilities().contains(capability);
  }

  /** Shows the first three differing replies and their number: a line with hundreds hides them. */
  static void assertAll(Class<? extends Reply> kind, List<Reply> replies) {
    List<Reply> different = replies.stream().filter(reply -> !kind.isInstance(reply)).toList();
    assertThat(different.subList(0, Math.min(3, different.size())))
        .as(
            "the first of the %s replies, of %s, that are not %s",
            different.size(), replies.size(), kind.getSimpleName())
        .isEmpty();
  }

  /** Skips the rest of the test if locks cannot be listed. */
  final void needsList() {
    Assumptions.assumeTrue(under.listsLocks(), "the store lists no locks");
  }

  /** Whether holds outlive their sessions until proven dead; true without sessions. */
  final boolean proofs() {
    return can(Capability.PROOF) || !can(Capability.SESSION);
  }

  final void needsProofs() {
    Assumptions.assumeTrue(proofs(), "the store ends by itself what the dead held");
  }

  /** Whether the store itself remembers ends and tokens. */
  final boolean records() {
    return can(Capability.RECORD) || !can(Capability.SESSION);
  }

  /** A session that lives for minutes. */
  final SessionDriver session(String client) {
    return session(client, LONG);
  }

  final SessionDriver session(String client, Duration ttl) {
    SessionDriver driver = SessionDriver.open(store(), ttl, client);
    sessions.add(driver);
    return driver;
  }

  /** A session that ends soon unless renewed. */
  final SessionDriver shortSession(String client) {
    return session(client, shortTtl());
  }

  final Duration shortTtl() {
    Duration least = store().profile().minTtl();
    Duration usual = PauseDetector.stretched(under.shortTtl());
    return usual.compareTo(least) < 0 ? least : usual;
  }

  /**
   * Waits until a short session has ended, including its holds and waits if the store ends them by
   * itself.
   */
  final void outliveSession() {
    outlive(shortTtl());
    if (!proofs()) {
      BoundedWait.until(
          BoundedWait.ANSWER, "what the dead held was gone", () -> holders(LOCK).isEmpty());
    }
  }

  /** Waits until this time has passed by the store's clock. */
  final void outlive(Duration time) {
    under.pass(time.plus(store().profile().expiryLag()).plusMillis(30));
  }

  /** The longest rest of an at-least time: observers add what clock rates may differ. */
  final Duration shown(Duration atLeast) {
    return can(Capability.AT_MOST) ? atLeast : atLeast.plus(atLeast.dividedBy(1_000));
  }

  /** Ends the session; the store confirms it. */
  final SessionId die(SessionDriver session) {
    session.close();
    assertThat(judge(session)).isInstanceOf(SessionVerdict.SessionEnded.class);
    return session.id();
  }

  /** Has a session judged; skips the rest of the test if the store cannot. */
  final SessionVerdict judge(SessionDriver session) {
    needs(Capability.SESSION);
    return BoundedWait.join(store().judge(session.id()));
  }

  final Optional<LockInfo> look(LockName name) {
    Page<LockInfo> page = BoundedWait.join(store().inspect(LockQuery.of(name.value())));
    return page.items().stream().findFirst();
  }

  final List<AttemptId> holders(LockName name) {
    return look(name).stream()
        .flatMap(view -> view.holders().stream())
        .map(participant -> AttemptId.parse(participant.attempt()))
        .toList();
  }

  final List<AttemptId> waiters(LockName name) {
    return look(name).stream()
        .flatMap(view -> view.waiters().stream())
        .map(participant -> AttemptId.parse(participant.attempt()))
        .toList();
  }

  /** Asserts that there is no holder and no waiter, and that the next acquire is granted. */
  final void assertFree(LockName name, SessionDriver by) {
    assertThat(holders(name)).isEmpty();
    assertThat(waiters(name)).isEmpty();
    Reply.Granted grant = by.hold(name, EX);
    by.end(name, grant.attempt());
  }

  static Request.Acquire timed(LockName name, AttemptId attempt, boolean queue, HoldTerms terms) {
    return new Request.Acquire(name, attempt, EX, queue, terms, 1, 0, null);
  }

  static HoldTerms atMost(Duration time) {
    return new HoldTerms(time, null, "");
  }

  static HoldTerms atLeast(Duration time) {
    return new HoldTerms(null, time, "");
  }

  static Reply.Granted granted(Reply reply) {
    assertThat(reply).isInstanceOf(Reply.Granted.class);
    return (Reply.Granted) reply;
  }

  static Reply.Busy busy(Reply reply) {
    assertThat(reply).isInstanceOf(Reply.Busy.class);
    return (Reply.Busy) reply;
  }

  static Reply.Queued queued(Reply reply) {
    assertThat(reply).isInstanceOf(Reply.Queued.class);
    return (Reply.Queued) reply;
  }

  /** The holder reported to a contender. */
  static Reply.Holder inTheWay(Reply reply) {
    Reply.Holder holder =
        reply instanceof Reply.Queued queued ? queued.holder() : busy(reply).holder();
    if (holder == null) {
      throw new AssertionError("No holder is named in " + reply + ".");
    }
    return holder;
  }

  static ClientInfo client(LockParticipant participant) {
    ClientInfo client = participant.client();
    if (client == null) {
      throw new AssertionError("No client is shown in " + participant + ".");
    }
    return client;
  }

  static void assertRefused(Reply reply, Reply.RefusalReason refusalReason) {
    assertThat(reply)
        .isInstanceOfSatisfying(
            Reply.Refused.class,
            refused -> {
              assertThat(refused.why()).isEqualTo(refusalReason);
              assertThat(refused.message()).isNotBlank();
            });
  }

  static void assertEnded(Reply reply, Reply.AttemptState attemptState, Reply.EndReason endReason) {
    assertThat(reply)
        .isInstanceOfSatisfying(
            Reply.Ended.class,
            ended -> {
              assertThat(ended.was()).isEqualTo(attemptState);
              assertThat(ended.how()).isEqualTo(endReason);
            });
  }

  static Renewal.Renewed renewed(Renewal renewal) {
    assertThat(renewal).isInstanceOf(Renewal.Renewed.class);
    return (Renewal.Renewed) renewal;
  }

  /** The notifications of one kind. */
  static <N extends SessionNotification> List<N> only(
      Class<N> kind, List<SessionNotification> sessionNotification) {
    return sessionNotification.stream().filter(kind::isInstance).map(kind::cast).toList();
  }
}
