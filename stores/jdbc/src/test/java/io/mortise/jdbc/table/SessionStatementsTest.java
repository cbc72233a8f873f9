package io.mortise.jdbc.table;

import static io.mortise.jdbc.table.TestTables.with;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.support.table.LockRecord.HoldEntry;
import io.mortise.support.table.LockRecord.WaiterEntry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** As {@link ServerStatementsTest}, for sessions, which take one round trip there. */
@ParameterizedClass
@ValueSource(strings = {"postgresql", "mysql", "mariadb"})
class SessionStatementsTest extends ServerStatementsFixture {
  private static final String ID = ATTEMPT.session().value();
  private static final SessionSpec SPEC =
      new SessionSpec(ATTEMPT.session(), Duration.ofMinutes(2), new ClientLabel("host", 1, "test"));

  @Test
  void givenSessionThatLives_whenKept_thenForATtlFromNow_andNoOther() throws SQLException {
    // The second time as one whose answer was lost, the third as the next.
    for (long previous : List.of(1L, 1L, 7L)) {
      List<Map<String, Object>> others = others();
      Renewal.Renewed kept = (Renewal.Renewed) keep(previous, 7, false);
      assertThat(kept.storeMicros()).isBetween(now, clock());
      assertThat(session(ID))
          .containsEntry("beat", 7L)
          .containsEntry("expires_us", kept.storeMicros() + 2 * MINUTE)
          .containsEntry("ttl_us", 2 * MINUTE);
      assertThat(others()).isEqualTo(others);
    }
  }

  @Test
  void givenSessionThatSomebodyElseRenews_orThatHasEnded_whenKept_thenNothingIsChanged()
      throws SQLException {
    List<Map<String, Object>> before = tables.all("session");
    assertThat(keep(0, 1, false)).as("the first renewal makes it").isNull();
    assertThat(keep(2, 3, false)).as("another beat").isNull();
    assertThat(keep(2, 3, true)).isNull();
    assertThat(tables.all("session")).isEqualTo(before);
    setSession(ATTEMPT, now - 1);
    before = tables.all("session");
    assertThat(keep(1, 7, false)).as("its time is over").isNull();
    assertThat(keep(7, 1, false)).isNull();
    assertThat(tables.all("session")).isEqualTo(before);
    assertThat(keep(1, 7, true)).as("only its beat ends it").isNotNull();
    assertThat(session(ID)).containsEntry("beat", 7L);
  }

  @Test
  void givenNews_whenASessionIsKept_thenItForgetsWhatItKnows_andIsToldItsOwn() throws SQLException {
    SessionNotification.Contended first =
        new SessionNotification.Contended(LockName.of("first"), ATTEMPT);
    SessionNotification.Contended second =
        new SessionNotification.Contended(LockName.of("second"), ATTEMPT);
    SessionNotification.Contended elsewhere =
        new SessionNotification.Contended(LockName.of("first"), OTHER);
    for (SessionNotification sessionNotification : List.of(first, elsewhere, second)) {
      assertThat(storeConnection.repository.tell(sessionNotification, now)).isTrue();
    }
    List<Long> ids =
        storeConnection.repository.notifications(ID, 0, 9).stream()
            .map(Renewal.NumberedNotification::id)
            .toList();
    List<Long> others =
        storeConnection.repository.notifications(OTHER.session().value(), 0, 9).stream()
            .map(Renewal.NumberedNotification::id)
            .toList();
    assertThat(told(keep(1, 7, List.of()))).containsExactly(first, second);
    assertThat(told(keep(7, 8, List.of(ids.get(0), others.get(0), 99L)))).containsExactly(second);
    assertThat(
            storeConnection
                .repository
                .keep(ID, 8, 9, 2 * MINUTE, false, List.of(), 0)
                .notifications())
        .isEmpty();
    assertThat(storeConnection.repository.notifications(OTHER.session().value(), 0, 9)).hasSize(1);
    assertThat(keep(1, 2, List.of(ids.get(1))))
        .as("a clone, whose word counts for nothing")
        .isNull();
    assertThat(storeConnection.repository.notifications(ID, 0, 9)).hasSize(1);
    assertThat(told(keep(9, 10, List.of(ids.get(1))))).isEmpty();
  }

  @Test
  void givenSessions_whenSomeAreRead_thenThoseOfThemThatThereAre() throws SQLException {
    assertThat(storeConnection.repository.sessions(Set.of())).isEmpty();
    assertThat(storeConnection.repository.sessions(Set.of(ID, "unknown", DEAD.session().value())))
        .containsOnlyKeys(ID, DEAD.session().value())
        .containsEntry(ID, storeConnection.repository.session(ID));
    Set<String> many = new HashSet<>(Set.of(ID, DEAD.session().value()));
    for (int i = 0; i < 70_000; i++) {
      many.add("unknown" + i);
    }
    assertThat(storeConnection.repository.sessions(many))
        .containsOnlyKeys(ID, DEAD.session().value());
  }

  @Test
  void givenLock_whenLookedAt_thenWithItsPartsAndTheTime() throws SQLException {
    assertThat(storeConnection.repository.look("loc", 9, () -> 0))
        .as("the next one is another")
        .isNull();
    assertThat(storeConnection.repository.look("zzz", 9, () -> 0))
        .as("there is none behind it")
        .isNull();
    tables.put("lock", with(free("used", 2), "name", "shared"));
    storeConnection.repository.insert("shared", new HoldEntry(OTHER, 1, "one", now), 1);
    storeConnection.repository.insert("shared", new HoldEntry(THIRD, 1, "two", now), 2);
    storeConnection.repository.insert("shared", WaitRow.of(new WaiterEntry(acquire(), 1, now)));
    LockRepository.LockSnapshot lockSnapshot =
        storeConnection.repository.look("shared", 1, () -> 0);
    assertThat(lockSnapshot.now()).isBetween(now, clock());
    assertThat(lockSnapshot.lock().name.value()).isEqualTo("shared");
    assertThat(lockSnapshot.holds()).extracting(hold -> hold.label).containsExactly("one");
    assertThat(lockSnapshot.waiters())
        .extracting(WaitRow::attempt)
        .containsExactly(ATTEMPT.encoded());
    assertThat(storeConnection.repository.look("other", 9, () -> 0).lock().owner.attempt)
        .isEqualTo(OTHER);
  }

  private Renewal keep(long previous, long next, boolean strictly) throws SQLException {
    return storeConnection.sessions.keep(
        SPEC.id(), previous, next, List.of(), SPEC.ttl(), strictly);
  }

  private Renewal keep(long previous, long next, List<Long> known) throws SQLException {
    return storeConnection.sessions.keep(SPEC.id(), previous, next, known, SPEC.ttl(), false);
  }

  private static List<SessionNotification> told(Renewal renewal) {
    return ((Renewal.Renewed) renewal)
        .notifications().stream().map(Renewal.NumberedNotification::notification).toList();
  }

  private long clock() throws SQLException {
    return (long) tables.column("now").get(0);
  }

  private Map<String, Object> session(String id) throws SQLException {
    return tables.all("session").stream().filter(row -> row.get("id").equals(id)).findAny().get();
  }

  private List<Map<String, Object>> others() throws SQLException {
    return tables.all("session").stream().filter(row -> !row.get("id").equals(ID)).toList();
  }
}
