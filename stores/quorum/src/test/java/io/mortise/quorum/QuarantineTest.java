package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.ServerIncarnation;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The messages about members without a vote, and the duration. */
class QuarantineTest {
  private static final QuorumOptions OPTIONS =
      MemMembers.PATIENT.withQuarantine(Duration.ofMinutes(1));

  private final ManualTime time = new ManualTime();

  /** Stores that report how long they have been running. */
  private List<LockStore> members(int... seconds) {
    List<LockStore> plain =
        MemMembers.stores(EnumSet.allOf(Capability.class), time, 1_700_000_000_000_000L);
    List<LockStore> members = new ArrayList<>();
    for (int i = 0; i < plain.size(); i++) {
      members.add(running("redis:cache-" + (i + 1), plain.get(i), Duration.ofSeconds(seconds[i])));
    }
    return members;
  }

  private static LockStore running(String name, LockStore store, Duration age) {
    return new ForwardingStore(store) {
      @Override
      public StoreProfile profile() {
        StoreProfile one = super.profile();
        return new StoreProfile(
            name, one.capabilities(), one.maxInFlight(), one.minTtl(), one.expiryLag());
      }

      @Override
      public ServerIncarnation incarnation() {
        return new ServerIncarnation(name, age);
      }
    };
  }

  private static Reply acquire(StoreSession session, long number) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    session.submit(
        new Request.Acquire(
            LockName.of("x"),
            new AttemptId(session.id(), number),
            Mode.EXCLUSIVE,
            false,
            HoldTerms.NONE,
            1,
            0,
            null),
        reply::complete);
    return BoundedWait.join(reply);
  }

  private static String trouble(Reply reply) {
    assertThat(reply).isInstanceOf(Reply.Failed.class);
    return ((Reply.Failed) reply).cause().getMessage();
  }

  @Test
  void givenServersStartedJustNow_whenALockIsAskedFor_thenItSaysHowLongTheyHaveNoVote() {
    try (LockStore store =
        QuorumLockStore.over(members(17, 17, 17), OPTIONS, QuorumRules.ALL, time)) {
      StoreSession session = MemMembers.session(store, 1);

      assertThat(trouble(acquire(session, 1)))
          .isEqualTo(
              "0 of 3 members granted, 2 are needed: redis:cache-1, redis:cache-2, redis:cache-3:"
                  + " no vote for 43s more (started 17s ago, quarantine 1m).");

      time.advance(Duration.ofMillis(42_900));
      assertThat(trouble(acquire(session, 2))).contains("no vote for 1s more (started 59s ago,");
      time.advance(Duration.ofMillis(100));
      assertThat(acquire(session, 3)).isInstanceOf(Reply.Granted.class);
    }
  }

  @Test
  void givenOneMemberThatCouldGrant_whenTheOthersHaveNoVote_thenItIsNoneOfTheReasons() {
    try (LockStore store =
        QuorumLockStore.over(members(17, 100, 20), OPTIONS, QuorumRules.ALL, time)) {
      String told = trouble(acquire(MemMembers.session(store, 1), 1));

      assertThat(told)
          .isEqualTo(
              "1 of 3 members granted, 2 are needed:"
                  + " redis:cache-1: no vote for 43s more (started 17s ago, quarantine 1m);"
                  + " redis:cache-3: no vote for 40s more (started 20s ago, quarantine 1m).");
      assertThat(told).doesNotContain("Granted").doesNotContain("cache-2").doesNotContain("store=");
    }
  }
}
