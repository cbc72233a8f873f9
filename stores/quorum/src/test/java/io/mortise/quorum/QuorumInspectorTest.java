package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.StoreSession;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A listing of all locks shows the held ones, or fails as too few members answer; it is never
 * wrongly empty.
 */
class QuorumInspectorTest {
  private static final LockQuery ALL = LockQuery.all();

  /** So many locks that each member needs two pages. */
  private static final LockQuery ONE_AT_A_TIME = LockQuery.all().page(null, 1);

  private final ManualTime time = new ManualTime();
  private final List<PartitionableStore> members =
      MemMembers.stores(EnumSet.allOf(Capability.class), time, 1_700_000_000_000_000L).stream()
          .map(PartitionableStore::new)
          .toList();
  private QuorumLockStore store;
  private StoreSession session;

  /** A member that may be cut off from the client. */
  private static final class PartitionableStore extends ForwardingStore {
    private boolean cut;

    PartitionableStore(LockStore store) {
      super(store);
    }

    @Override
    public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
      return cut
          ? CompletableFuture.failedFuture(new StoreUnavailableException("It is cut off."))
          : super.inspect(query);
    }
  }

  @BeforeEach
  void open() {
    store = QuorumLockStore.over(List.copyOf(members), MemMembers.PATIENT, QuorumRules.ALL, time);
    session = MemMembers.session(store, 1);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private static void hold(StoreSession session, String name) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    AttemptId attempt = new AttemptId(session.id(), name.charAt(0));
    session.submit(
        new Request.Acquire(
            LockName.of(name), attempt, Mode.EXCLUSIVE, false, HoldTerms.NONE, 1, 0, null),
        reply::complete);
    assertThat(BoundedWait.join(reply)).isInstanceOf(Reply.Granted.class);
  }

  private Page<LockInfo> page(LockQuery query) {
    return BoundedWait.join(store.inspect(query));
  }

  private List<String> walk(Page<LockInfo> first) {
    List<String> names = new ArrayList<>();
    Page<LockInfo> page = first;
    while (true) {
      page.items().forEach(lock -> names.add(lock.name().toString()));
      if (page.next() == null) {
        return names;
      }
      page = page(ONE_AT_A_TIME.page(page.next(), 1));
    }
  }

  private void assertTooFew(LockQuery query, int answering) {
    assertThatThrownBy(() -> store.inspect(query).toCompletableFuture().join())
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("Only " + answering + " of 3 members answered");
  }

  @Test
  void givenMajorityCutOff_whenTheOtherKnowsOfNothingHeld_thenTheListFails() {
    hold(MemMembers.session(members.get(0), 2), "a");
    hold(MemMembers.session(members.get(1), 3), "a");
    members.get(0).cut = true;
    members.get(1).cut = true;

    assertTooFew(ALL, 1);

    members.get(2).cut = true;
    assertTooFew(ALL, 0);
  }

  @Test
  void givenMajorityThatIsCutOffDuringTheWalk_thenTheWalkFails() {
    hold(session, "a");
    Page<LockInfo> first = page(ALL);
    assertThat(first.items()).hasSize(1);

    members.get(1).cut = true;
    members.get(2).cut = true;

    assertThat(first.next()).isNotNull();
    assertTooFew(ALL.page(first.next(), ALL.limit()), 1);
  }

  @Test
  void givenOneMemberCutOff_thenAllThatIsHeldIsShown() {
    hold(session, "a");
    hold(session, "b");

    for (PartitionableStore member : members) {
      member.cut = true;
      assertThat(walk(page(ONE_AT_A_TIME)))
          .as("without " + members.indexOf(member))
          .containsExactlyInAnyOrder("a", "b");
      member.cut = false;
    }
  }

  @Test
  void givenMemberThatIsBackAfterItsTurn_thenWhatItWouldHaveShownIsShown() {
    hold(session, "a");
    hold(session, "b");
    members.get(0).cut = true;
    Page<LockInfo> first = page(ONE_AT_A_TIME);
    assertThat(first.items()).hasSize(1);

    members.get(0).cut = false;

    assertThat(walk(first)).containsExactlyInAnyOrder("a", "b");
  }
}
