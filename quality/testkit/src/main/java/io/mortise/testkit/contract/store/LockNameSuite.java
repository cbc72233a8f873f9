package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.NameVectors;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Different names are different locks, and are returned unchanged. */
class LockNameSuite extends StoreSuite {
  LockNameSuite(StoreUnderTest under) {
    super(under);
  }

  @Test
  void givenNamesThatLookAlike_thenEachIsALockOfItsOwn_andIsShownAsItWasWritten() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    assertThat(new HashSet<>(NameVectors.all())).hasSameSizeAs(NameVectors.all());
    List<LockName> names = NameVectors.all().stream().filter(under::takes).toList();
    Map<LockName, AttemptId> held = new TreeMap<>();
    for (LockName name : names) {
      held.put(name, a.hold(name, EX).attempt());
    }
    held.forEach(
        (name, attempt) -> {
          assertThat(holders(name)).as(name.value()).containsExactly(attempt);
          assertThat(busy(b.acquire(name, b.attempt(), EX)).holder()).isNotNull();
        });
    if (under.listsLocks()) {
      Page<LockInfo> page = BoundedWait.join(store().inspect(LockQuery.all().page(null, 1000)));
      assertThat(page.items().stream().map(LockInfo::name).map(LockName::of))
          .containsExactlyInAnyOrderElementsOf(names);
    }
    if (under.capabilities().contains(Capability.SESSION)) {
      assertThat(
              only(SessionNotification.Contended.class, a.notifications()).stream()
                  .map(SessionNotification::name))
          .containsExactlyInAnyOrderElementsOf(names);
    }
    held.forEach(
        (name, attempt) ->
            assertEnded(a.end(name, attempt), AttemptState.HELD, EndReason.RELEASED));
    held.forEach((name, attempt) -> assertThat(holders(name)).isEmpty());
  }

  @Test
  void givenNamesThatTheLayoutCannotHave_thenTheyAreRefused() {
    SessionDriver a = session("a");
    for (LockName name : NameVectors.all()) {
      if (!under.takes(name)) {
        assertRefused(a.acquire(name, a.attempt(), EX), RefusalReason.UNSUPPORTED);
        assertThat(look(name)).isEmpty();
      }
    }
  }
}
