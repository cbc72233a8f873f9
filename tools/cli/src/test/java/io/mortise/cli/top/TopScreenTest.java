package io.mortise.cli.top;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.admin.LockParticipant.Share;
import io.mortise.cli.output.TextWidth;
import io.mortise.cli.top.KeyPress.KeyName;
import io.mortise.cli.top.ScreenLine.Style;
import io.mortise.cli.view.LockSelection;
import io.mortise.console.ConsoleAction;
import io.mortise.console.observer.Observer;
import io.mortise.console.observer.SeenLock;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The contents of the screen and the effects of keys: an observer over fixed locks, without a
 * terminal.
 */
class TopScreenTest {
  private static final Instant NOW = Instant.parse("2026-11-26T21:44:03Z");

  private final FixedLocks admin = new FixedLocks();
  private final Observer observer =
      new Observer(admin, 1, () -> 1_000_000_000L, InstantSource.fixed(NOW));
  private final List<String> asked = new ArrayList<>();
  private final TopView view = new TopView("redis:cache", ZoneOffset.UTC);
  private TopModel model = model(EnumSet.allOf(ConsoleAction.class));
  private int columns = 100;

  private TopModel model(Set<ConsoleAction> allowed) {
    return new TopModel(
        allowed,
        new TopModel.Requests() {
          @Override
          public void look(String name, @Nullable ConsoleAction purpose) {
            model.looked(observer.look(name), purpose);
          }

          @Override
          public void evict(String name, LockParticipant party, boolean now) {
            asked.add("evict " + name + " " + party.client().host() + (now ? " now" : ""));
          }

          @Override
          public void open(String name) {
            asked.add("open " + name);
          }
        });
  }

  /** Its process is gone. */
  static LockParticipant dead(String host, long number, long token) {
    LockParticipant party = party(host, number, token, 60);
    return new LockParticipant(
        party.attempt(),
        null,
        party.label(),
        party.share(),
        token,
        party.since(),
        Duration.ZERO,
        null,
        false,
        null,
        Duration.ZERO,
        null);
  }

  static LockParticipant party(String host, long number, long token, int seconds) {
    return new LockParticipant(
        new AttemptId(new SessionId("A".repeat(11) + host.charAt(host.length() - 1)), number)
            .encoded(),
        new ClientInfo(host, 4711, "billing"),
        host.equals("db9") ? "\u001b[2Jevil" : "job",
        new Share(Access.EXCLUSIVE, 0, 0),
        token,
        Duration.ofSeconds(seconds),
        Duration.ofSeconds(11),
        null,
        false,
        null,
        Duration.ZERO,
        null);
  }

  private void lock(String name, List<LockParticipant> holders, List<LockParticipant> waiters) {
    lock(new LockInfo(name, OptionalInt.empty(), 0, Duration.ZERO, holders, waiters, 0, 0, null));
  }

  private void lock(LockInfo lock) {
    admin.locks.put(lock.name(), lock);
    observer.look(lock.name());
  }

  private void threeLocks() {
    lock("calm", List.of(party("db1", 1, 5, 60)), List.of());
    lock("wanted", List.of(party("db2", 1, 7, 180)), List.of(party("db9", 1, 0, 12)));
    lock(
        new LockInfo(
            "shut",
            OptionalInt.empty(),
            5,
            Duration.ofSeconds(40),
            List.of(),
            List.of(),
            0,
            0,
            null));
  }

  private void press(String keys) {
    keys.chars().forEach(c -> model.press(KeyPress.typed(c)));
  }

  private void press(KeyName... keys) {
    for (KeyName key : keys) {
      model.press(KeyPress.of(key));
    }
  }

  private List<ScreenLine> screen() {
    model.show(TopSnapshot.of(observer, model.query()));
    return view.lines(model, columns, 16);
  }

  private String text() {
    return screen().stream().map(ScreenLine::text).collect(Collectors.joining("\n"));
  }

  private String selected() {
    return screen().stream()
        .filter(line -> line.style() == Style.SELECTED)
        .map(ScreenLine::text)
        .collect(Collectors.joining())
        .strip();
  }

  @Test
  void givenLocks_whenShown_thenTheOneThatIsWaitedForStandsFirst() {
    threeLocks();
    assertThat(text())
        .startsWith("mortise top  redis:cache  21:44:03\n")
        .containsSubsequence(
            "NAME    HOLDER          HELD  WAITING  LONGEST  TROUBLE  LABEL\n",
            "wanted  db2:4711        3m    1        12s      waited   job",
            "shut    (shut for 40s)  -     0        -        shut\n",
            "calm    db1:4711        1m    0        -                 job\n")
        .endsWith("e evict   E evict now   ? help   q end");
    assertThat(screen()).hasSize(16);
  }

  @Test
  void givenTrouble_whenSorted_thenListAndScreenHaveTheSameOrder() {
    threeLocks();
    LockParticipant dead = dead("db1", 3, 7);
    lock("gone", List.of(dead), List.of());
    lock("gone-wanted", List.of(dead), List.of(party("db4", 1, 0, 2)));
    List<String> order = List.of("gone-wanted", "gone", "wanted", "shut", "calm");
    assertThat(TopSnapshot.of(observer, model.query()).rows())
        .extracting(TopRow::name)
        .isEqualTo(order);
    assertThat(
            new LockSelection("", Set.of(), LockSelection.SortOrder.TROUBLE, 9).from(admin).locks())
        .extracting(LockInfo::name)
        .isEqualTo(order);
  }

  @Test
  void givenLabelWithEscapes_whenShownAnywhere_thenTheTerminalObeysNothing() {
    threeLocks();
    lock("na\u001b[2Jme", List.of(party("db9", 1, 3, 9)), List.of());
    assertThat(text()).contains("na\\x1b[2Jme", "\\x1b[2Jevil").doesNotContain("\u001b");
    press("w");
    assertThat(text()).contains("\\x1b[2Jevil").doesNotContain("\u001b");
    press("w/\u202e");
    assertThat(text()).contains("\\u{202e}").doesNotContain("\u202e");
  }

  @Test
  void givenChosenLock_whenAnotherGetsWorse_thenTheSameStaysChosen() {
    threeLocks();
    screen();
    press(KeyName.DOWN);
    assertThat(selected()).startsWith("shut");
    lock("worse", List.of(party("db3", 1, 9, 500)), List.of(party("db4", 1, 0, 400)));
    assertThat(selected()).startsWith("shut");
    press(KeyName.UP, KeyName.UP, KeyName.UP);
    assertThat(selected()).startsWith("worse");
  }

  @Test
  void givenNarrowTerminal_whenShown_thenNoLineIsLonger() {
    threeLocks();
    lock("鎖".repeat(60), List.of(party("db1", 2, 6, 60)), List.of());
    columns = 40;
    for (String page : List.of("", "w", "w?", "?")) {
      press(page);
      assertThat(screen())
          .allSatisfy(line -> assertThat(TextWidth.of(line.text())).isLessThanOrEqualTo(40));
    }
  }

  @Test
  void givenSmallTerminal_whenAsked_thenTheWholeQuestionIsThere() {
    threeLocks();
    screen();
    press("e");
    columns = 40;
    model.show(TopSnapshot.of(observer, model.query()));
    List<ScreenLine> lines = view.lines(model, columns, 8);
    assertThat(lines).hasSize(8);
    assertThat(lines.stream().map(ScreenLine::text).collect(Collectors.joining(" ")))
        .contains("the lock stays shut: for 11s at most if its process is gone or cut off.")
        .endsWith("Evict it? [y/N]");
  }

  @Test
  void givenTinyTerminal_whenShown_thenThereAreNoMoreLines() {
    threeLocks();
    for (String keys : List.of("", "w", "w?", "?e", "n")) {
      press(keys);
      for (int size = 1; size < 8; size++) {
        model.show(TopSnapshot.of(observer, model.query()));
        assertThat(view.lines(model, size, size)).as(keys).hasSizeLessThanOrEqualTo(size);
      }
    }
  }

  @Test
  void givenFilter_whenTyped_thenOnlyThoseAreShown_andAnUnknownNameIsAskedFor() {
    threeLocks();
    screen();
    press("/DB1");
    assertThat(text()).contains("calm").doesNotContain("wanted");
    press(KeyName.ENTER);
    assertThat(model.page()).isEqualTo(TopModel.TopPage.LOCKS);
    press(KeyName.ESCAPE);
    assertThat(text()).contains("wanted");
    press("/nosuch");
    assertThat(text()).contains("No lock is like 'nosuch'");
    press(KeyName.ENTER);
    assertThat(text()).contains("nosuch: no record of it");
  }

  @Test
  void givenHolder_whenEvicted_thenItIsAskedInTheWordsOfTheCommand_andOnlyYDoesIt() {
    threeLocks();
    screen();
    press("e");
    assertThat(text())
        .contains(
            "db2:4711 has held lock 'wanted' for 3m (job).",
            "It is told to let go. Until it does, the lock stays shut: for 11s at most",
            "Next is db9:4711; 1 waits.",
            "Evict it? [y/N]");
    press("n");
    assertThat(text()).contains("Nothing was done.");
    assertThat(asked).isEmpty();
    press("ey");
    assertThat(asked).containsExactly("evict wanted db2");
  }

  @Test
  void givenHolder_whenEvictedNow_thenTheNameHasToBeTyped() {
    threeLocks();
    screen();
    press("E");
    assertThat(text())
        .contains(
            "It may go on working until it hears of it, while another holds the lock already.",
            "Evict it at once? Type the lock's name");
    press("y");
    press(KeyName.ENTER);
    assertThat(text()).contains("That is not the lock's name. Nothing was done.");
    assertThat(asked).isEmpty();
    press("Ewantex");
    press(KeyName.BACKSPACE);
    press("d");
    press(KeyName.ENTER);
    assertThat(asked).containsExactly("evict wanted db2 now");
  }

  @Test
  void givenWaiter_whenChosenAndEvicted_thenItsWaitIsEnded() {
    threeLocks();
    screen();
    press(KeyName.ENTER, KeyName.DOWN, KeyName.DOWN);
    assertThat(selected()).startsWith("waiter 1  db9:4711");
    press("e");
    assertThat(text()).contains("db9:4711 has waited for lock 'wanted' for 12s");
    press("y");
    assertThat(asked).containsExactly("evict wanted db9");
  }

  @Test
  void givenChosenWaiter_whenItGivesUp_thenTheHolderIsNotTakenInstead() {
    threeLocks();
    screen();
    press(KeyName.ENTER, KeyName.DOWN, KeyName.DOWN);
    admin.locks.put(
        "wanted",
        new LockInfo(
            "wanted",
            OptionalInt.empty(),
            0,
            Duration.ZERO,
            List.of(party("db2", 1, 7, 180)),
            List.of(),
            0,
            0,
            null));
    for (String key : List.of("e", "E", "e")) {
      press(key);
      assertThat(model.dialog()).isNull();
      assertThat(text()).contains("The chosen hold or wait has ended by now. Choose with ↑ and ↓.");
    }
    press(KeyName.UP);
    press("e");
    assertThat(text()).contains("db2:4711 has held lock 'wanted' for 3m");
  }

  @Test
  void givenSeveralHolders_whenEvicted_thenOneHasToBeChosen() {
    lock("two", List.of(party("db1", 1, 5, 60), party("db2", 2, 6, 50)), List.of());
    screen();
    press("e");
    assertThat(text()).contains("Lock 'two' has 2 holders. Choose one with ↑ and ↓ first.");
    press(KeyName.DOWN, KeyName.DOWN);
    press("ey");
    assertThat(asked).containsExactly("evict two db2");
  }

  @Test
  void givenShutLock_whenOpened_thenOnlyByTheStrongerFormAndItsName() {
    lock(
        new LockInfo(
            "shut",
            OptionalInt.empty(),
            5,
            Duration.ofSeconds(40),
            List.of(),
            List.of(),
            0,
            0,
            null));
    screen();
    press("e");
    assertThat(text())
        .contains("Nobody holds lock 'shut', but it is shut for another 40s. With E it opens");
    press("E");
    assertThat(text()).contains("What it is shut for may still go on", "Open it at once?");
    press("shut");
    press(KeyName.ENTER);
    assertThat(asked).containsExactly("open shut");
  }

  @Test
  void givenNothingAllowed_whenKeysOfEvictionArePressed_thenItIsSaidHowToAllowIt() {
    model = model(Set.of());
    threeLocks();
    assertThat(text()).doesNotContain("evict");
    press("e");
    assertThat(text()).contains("Not allowed here. To allow it, start mortise top --allow close.");
    press("E");
    assertThat(text()).contains("--allow break.");
    assertThat(asked).isEmpty();
  }

  @Test
  void givenLostStore_whenShown_thenWhatWasSeenStays_andIsSaidToBeOld() {
    threeLocks();
    admin.away = true;
    observer.watched();
    observer.start();
    await().until(() -> observer.outage() != null);
    observer.close();
    assertThat(text())
        .contains("The store does not answer since 21:44:03", "away for a test", "wanted");
  }

  @Test
  void givenManyLocks_whenPaged_thenTheChosenOneIsOnTheScreen() {
    for (int i = 100; i < 300; i++) {
      lock("lock-" + i, List.of(party("db1", i, i, 60)), List.of());
    }
    press("s");
    assertThat(text()).contains("lock-100").contains("1 to 10 of 200");
    press(KeyName.END);
    assertThat(selected()).startsWith("lock-299");
    press(KeyName.PAGE_UP);
    assertThat(selected()).startsWith("lock-288");
    press(KeyName.HOME);
    assertThat(selected()).startsWith("lock-100");
  }

  @Test
  void givenNoColour_whenStyled_thenNoneIsUsed() {
    for (Style style : Style.values()) {
      assertThat(style.codes(false)).doesNotContain("3");
    }
    assertThat(Style.ALARM.codes(true)).contains("31");
  }

  @Test
  void givenPausedScreen_whenAsked_thenItSaysSo() {
    threeLocks();
    screen();
    press("p");
    assertThat(model.isPaused()).isTrue();
    assertThat(text()).contains("STOPPED");
    press("pq");
    assertThat(model.isPaused()).isFalse();
    assertThat(model.isEnded()).isTrue();
  }

  @Test
  void givenFreeLock_whenOpen_thenItIsFree() {
    threeLocks();
    screen();
    press(KeyName.ENTER);
    admin.locks.remove("wanted");
    SeenLock seen = observer.look("wanted");
    model.looked(seen, null);
    assertThat(text()).contains("wanted: no record of it", "What happened last");
    press(KeyName.ESCAPE);
    assertThat(text()).contains("calm").doesNotContain("wanted");
  }
}
