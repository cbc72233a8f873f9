package io.mortise.support.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The text of locks is compared by {@link LockStepTest}, step by step. */
class DocumentCodecTest {
  private static final long NOW = 1_795_600_000_000_000L;
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final SessionId ID = new SessionId("sessionAaaaa");
  private static final List<SessionNotification> ALL =
      List.of(
          new SessionNotification.HoldEnded(
              LockName.of("é 1"), new AttemptId(ID, 1), EndReason.EVICTED),
          new SessionNotification.HoldGranted(
              LockName.of("é 2"), new AttemptId(ID, 2), NOW, 5, true, false),
          new SessionNotification.HoldGranted(
              LockName.of("é 3"), new AttemptId(ID, 3), NOW, 5, false, true),
          new SessionNotification.Contended(LockName.of("é 4"), new AttemptId(ID, 1L << 53)));

  private SessionDocument session =
      new SessionDocument(new ClientLabel("host", 4711, "a \"client\" ü"), TTL, NOW);

  @Test
  void givenSessionWithNotifications_whenWrittenAndRead_thenItTellsThemAndGoesOn() {
    ALL.forEach(notification -> assertThat(session.tell(notification, NOW)).isTrue());
    reread();
    Renewal.Renewed first = renewed(0, 7, List.of());
    assertThat(first.notifications())
        .extracting(Renewal.NumberedNotification::notification)
        .containsExactlyElementsOf(ALL);
    assertThat(session.client().name()).isEqualTo("a \"client\" ü");
    reread();
    assertThat(session.left(NOW)).isEqualTo(TTL.toMillis() * 1000);
    assertThat(session.renew(6, 8, List.of(), TTL, NOW)).isInstanceOf(Renewal.Lost.class);
    List<Long> seen = first.notifications().stream().map(Renewal.NumberedNotification::id).toList();
    assertThat(renewed(7, 8, seen).notifications()).isEmpty();
    reread();
    session.tell(ALL.get(3), NOW);
    assertThat(renewed(8, 9, List.of()).notifications())
        .singleElement()
        .satisfies(item -> assertThat(seen).doesNotContain(item.id()));
  }

  @Test
  void givenNotification_whenItIsLeftAgain_thenItIsToldOnce_andIsForgottenWithItsHold() {
    assertThat(session.tell(ALL.get(3), NOW)).isTrue();
    reread();
    assertThat(session.tell(ALL.get(3), NOW)).isFalse();
    assertThat(session.forget(ALL.get(2).attempt())).isFalse();
    assertThat(session.forget(ALL.get(3).attempt())).isTrue();
    reread();
    assertThat(session.notifications()).isEmpty();
  }

  @Test
  void givenEndedSession_whenWrittenAndRead_thenItHasEnded() {
    session.tell(ALL.get(3), NOW);
    session.end();
    reread();
    assertThat(session.hasEnded()).isTrue();
    assertThat(session.left(NOW)).isZero();
    assertThat(session.renew(0, 1, List.of(), TTL, NOW)).isInstanceOf(Renewal.Lost.class);
    assertThat(session.tell(ALL.get(3), NOW)).isFalse();
    assertThat(session.notifications()).isEmpty();
  }

  @Test
  void givenTextOfAnotherFormat_thenItIsRefused() {
    assertThatThrownBy(() -> DocumentCodec.decodeSession("session/a", "session1\t1"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("'session/a'")
        .hasMessageContaining("'session1'");
    assertThatThrownBy(() -> DocumentCodec.decode(LockName.of("a"), "{}"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("'lock/a'")
        .hasMessageContaining("'{}'");
    assertThatThrownBy(() -> DocumentCodec.decodeFact("fact/a", "fact9"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("'fact/a'")
        .hasMessageContaining("'fact9'");
  }

  @Test
  void givenTextThatIsCutOffOrHasUnknownParts_thenItIsRefusedByItsKey() {
    String attempt = new AttemptId(ID, 1).encoded();
    for (String text :
        List.of(
            "lock1",
            "lock1\t1\t2\tx\t4\t5",
            "lock1\t1\t2\t3\t4\t5\n",
            "lock1\t1\t2\t3\t4\t5\nsplit\t0",
            "lock1\t1\t2\t3\t4\t5\nsplit\t7\nsplit\t7",
            "lock1\t1\t2\t3\t4\t5\nhold\t" + attempt + "\t1",
            "lock1\t1\t2\t3\t4\t5\nother\t" + attempt + "\t1\t1\t1\t1\t0\t-\t-\ta")) {
      assertThatThrownBy(() -> DocumentCodec.decode(LockName.of("a"), text))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("'lock/a'");
    }
    String head = "session2\t1\t2\t3\t4\tfalse\t5\thost 1 name\n";
    for (String text :
        List.of(
            "session2\t1",
            "session2\t1\t2\t3\t4\tno\t5\thost 1 name",
            head + "other\t1\t" + attempt + "\tname",
            head + "contended\t1\t" + attempt.substring(1) + "\tname")) {
      assertThatThrownBy(() -> DocumentCodec.decodeSession("session/a", text))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("'session/a'");
    }
    for (String text : List.of("fact1\t1\t2\t3", "fact1\tx\t2\t3\ta")) {
      assertThatThrownBy(() -> DocumentCodec.decodeFact("fact/a", text))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("'fact/a'");
    }
  }

  /** The next step would write the line without that field. */
  @Test
  void givenLineWithAFurtherField_thenItIsRefusedByItsKey() {
    String attempt = new AttemptId(ID, 1).encoded();
    String lock = "lock1\t1\t2\t3\t4\t5";
    String hold = "\nhold\t" + attempt + "\t1\t1\t1\t1\t9\t8\tfalse\tfalse\tfalse\tlabel";
    String wait = "\nwait\t" + attempt + "\t1\t0\t1\t1\t0\t-\t-\tlabel";
    for (String text : List.of(lock, lock + "\nsplit\t7", lock + hold, lock + wait)) {
      assertThat(DocumentCodec.decode(LockName.of("a"), text)).isNotNull();
      assertThatThrownBy(() -> DocumentCodec.decode(LockName.of("a"), text + "\tmore"))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("'lock/a'")
          .hasStackTraceContaining("'more'");
    }
    String head = "session2\t1\t2\t3\t4\tfalse\t5\thost 1 name";
    for (String text : List.of(head, head + "\ncontended\t1\t" + attempt + "\tname")) {
      assertThat(DocumentCodec.decodeSession("session/a", text)).isNotNull();
      assertThatThrownBy(() -> DocumentCodec.decodeSession("session/a", text + "\tmore"))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("'session/a'");
    }
    assertThatThrownBy(() -> DocumentCodec.decodeFact("fact/a", "fact1\t1\t2\t3\ta\tmore"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("'fact/a'");
  }

  private Renewal.Renewed renewed(long previous, long next, List<Long> seen) {
    return (Renewal.Renewed) session.renew(previous, next, seen, TTL, NOW);
  }

  private void reread() {
    session =
        Objects.requireNonNull(
            DocumentCodec.decodeSession("session/a", DocumentCodec.encode(session)));
  }
}
