package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * An acquire and its end are sent at once, and reach the members so late that their clocks are past
 * the floor. Each mints another token, and none is asked again, as the end is in flight.
 */
class ReleaseBeforeTokenTest {
  private static final LockName LOCK = LockName.of("x");

  private final ManualTime time = new ManualTime();
  private final Queue<Runnable> onTheWay = new ArrayDeque<>();
  private final List<Reply> replies = new ArrayList<>();
  private boolean slow;

  @Test
  void givenEndBeforeMembersAgreeOnToken_thenAttemptIsToldToHaveEnded() {
    try (LockStore store =
        QuorumLockStore.over(members(), MemMembers.PATIENT, QuorumRules.ALL, time)) {
      SessionId id = SessionId.random(new Random(1));
      StoreSession session =
          store.open(
              new SessionSpec(id, Duration.ofMinutes(10), new ClientLabel("host", 1, "ended")),
              notifications -> {});
      assertThat(BoundedWait.join(session.renew(0, 1, List.of())))
          .isInstanceOf(Renewal.Renewed.class);
      AttemptId attempt = new AttemptId(id, 1);
      slow = true;

      session.submit(acquire(attempt), replies::add);
      session.submit(new Request.Abandon(LOCK, attempt), replies::add);
      time.advance(Duration.ofSeconds(1));
      arrive();

      assertThat(replies)
          .filteredOn(Reply.Refused.class::isInstance)
          .singleElement()
          .satisfies(
              reply -> assertThat(((Reply.Refused) reply).why()).isEqualTo(RefusalReason.ENDED));
      assertThat(replies).filteredOn(Reply.Ended.class::isInstance).hasSize(1);

      session.submit(acquire(new AttemptId(id, 2)), replies::add);
      arrive();

      assertThat(replies).last().isInstanceOf(Reply.Granted.class);
    }
  }

  private List<LockStore> members() {
    List<LockStore> members = new ArrayList<>();
    for (LockStore member : MemMembers.stores(EnumSet.allOf(Capability.class), time, 1_000_000L)) {
      members.add(new AsyncMember(member, this::send));
    }
    return members;
  }

  private void send(Runnable request) {
    if (slow) {
      onTheWay.add(request);
    } else {
      request.run();
    }
  }

  private void arrive() {
    while (!onTheWay.isEmpty()) {
      onTheWay.remove().run();
    }
  }

  private static Request acquire(AttemptId attempt) {
    return new Request.Acquire(LOCK, attempt, Mode.EXCLUSIVE, false, HoldTerms.NONE, 1, 0, null);
  }
}
