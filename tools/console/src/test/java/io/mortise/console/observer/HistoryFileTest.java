package io.mortise.console.observer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The history that outlives a console, in a real file. */
class HistoryFileTest {
  private static final String STORE = "redis://cache-1:6379";

  @TempDir private Path folder;
  private final FakeAdmin store = new FakeAdmin();
  private Path path;
  private HistoryFile file;
  private Observer observer;

  @BeforeEach
  void start() {
    path = folder.resolve("history.db");
    open();
  }

  private void open() {
    file = HistoryFile.open(path, STORE);
    observer = new Observer(store, 0.5, file, () -> store.nanos, store::now);
  }

  @AfterEach
  void stop() {
    file.close(store.now());
  }

  /** Ends the console and starts another after a while. */
  private void restart(Duration after) {
    stop();
    store.advance(after);
    open();
  }

  private void watch(Duration time) {
    long end = store.nanos + time.toNanos();
    while (store.nanos < end) {
      observer.watched();
      long nap = observer.step();
      file.flush(store.now());
      store.nanos += Math.min(nap, Duration.ofMillis(200).toNanos());
    }
  }

  private List<ObservedEvent> events() {
    return observer
        .events()
        .after(0, event -> event.session() == null || event.lock() != null, 999);
  }

  private List<String> told() {
    return events().stream().map(event -> event.kind() + " " + event.lock()).toList();
  }

  @Test
  void givenEvents_whenConsoleStartsAnew_thenItHasThemAll_andCountsOn() {
    watch(Duration.ofSeconds(3));
    store.hold("a", 1, 1);
    watch(Duration.ofSeconds(5));
    store.release("a");
    watch(Duration.ofSeconds(5));
    List<ObservedEvent> before = observer.events().after(0, event -> true, 999);
    assertThat(told()).containsExactly("granted a", "released a");
    restart(Duration.ofMinutes(3));
    assertThat(observer.events().after(0, event -> true, before.size()))
        .usingRecursiveComparison()
        .withComparatorForType(
            (one, other) -> Duration.between(one, other).abs().toMillis() < 1 ? 0 : 1,
            java.time.Instant.class)
        .withComparatorForType(
            (one, other) -> one.minus(other).abs().toMillis() < 1 ? 0 : 1, Duration.class)
        .isEqualTo(before);
    assertThat(told()).containsExactly("granted a", "released a", "gap null");
    assertThat(observer.watchedSince()).isBefore(FakeAdmin.START.plusSeconds(2));
    assertThat(observer.started()).isAfter(FakeAdmin.START.plusSeconds(180));
    assertThat(observer.gaps()).hasSize(1);
    Outages.Gap gap = observer.gaps().get(0);
    assertThat(Duration.between(gap.from(), gap.to()))
        .isBetween(Duration.ofMinutes(3), Duration.ofMinutes(3).plusSeconds(6));
    store.hold("b", 2, 2);
    watch(Duration.ofSeconds(5));
    assertThat(told()).containsExactly("granted a", "released a", "gap null");
    store.release("b");
    watch(Duration.ofSeconds(5));
    assertThat(events().get(3).seq()).isGreaterThan(events().get(2).seq());
    restart(Duration.ofSeconds(1));
    assertThat(observer.gaps()).hasSize(2);
  }

  @Test
  void givenHoldThatGoesOn_whenConsoleStartsAnew_thenItIsNotToldTwice_andItsEndIs() {
    watch(Duration.ofSeconds(3));
    store.hold("a", 1, 1);
    watch(Duration.ofSeconds(5));
    restart(Duration.ofMinutes(1));
    watch(Duration.ofSeconds(5));
    store.release("a");
    watch(Duration.ofSeconds(5));
    assertThat(told()).containsExactly("granted a", "gap null", "released a");
    assertThat(events().get(2).held()).isGreaterThan(Duration.ofMinutes(1));
    assertThat(events().get(2).doubt()).isLessThan(Duration.ofSeconds(5));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenHoldThatEndedMeanwhile_whenConsoleStartsAnew_thenItsEndIsToldAsUnseen(boolean keeps) {
    store.keepsEnds = keeps;
    watch(Duration.ofSeconds(3));
    store.hold("a", 1, 1);
    watch(Duration.ofSeconds(5));
    stop();
    store.release("a");
    store.hold("a", 2, 2);
    store.advance(Duration.ofMinutes(1));
    open();
    watch(Duration.ofSeconds(5));
    assertThat(told()).containsExactly("granted a", "gap null", keeps ? "released a" : "ended a");
    ObservedEvent end = events().get(2);
    assertThat(end.attempt()).isEqualTo(FakeAdmin.attempt(1, 1));
    assertThat(end.text())
        .isEqualTo(
            keeps
                ? "while the console did not run"
                : "not seen how, while the console did not run");
    assertThat(end.doubt()).isGreaterThan(Duration.ofMinutes(1));
  }

  @Test
  void givenMoreLocksThanAreKept_whenConsoleStartsAnew_thenAHoldThatGoesOnIsNotToldAsEnded() {
    watch(Duration.ofSeconds(3));
    store.hold("z", 1, 1);
    watch(Duration.ofSeconds(5));
    for (int i = 0; i <= SeenLocks.KEPT; i++) {
      store.hold("other/" + i, 2, i + 1);
    }
    restart(Duration.ofMinutes(1));
    watch(Duration.ofSeconds(20));
    assertThat(observer.survey().asOf()).isNotNull();
    assertThat(observer.survey().complete()).isFalse();
    assertThat(observer.lock("z")).isNull();
    assertThat(told()).containsExactly("granted z", "gap null");
  }

  @Test
  void givenMoreEventsThanAreKept_thenTheOldestAreForgotten_andThePagesAreUsedAgain()
      throws IOException, SQLException {
    ObservedEvent event = ObservedEvent.gap(store.now(), store.now(), "x".repeat(100));
    long size = 0;
    for (int round = 1; round <= 4; round++) {
      for (int i = 1; i <= EventRing.KEPT / 2; i++) {
        file.append(event.withSeq((long) (round - 1) * EventRing.KEPT / 2 + i));
      }
      store.advance(Duration.ofSeconds(2));
      file.flush(store.now());
      if (round == 3) {
        size = Files.size(path);
      }
    }
    stop();
    assertThat(Files.size(path)).isLessThan(30_000_000).isLessThan(Math.max(size, 1) * 2);
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + path);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT count(*), max(seq) FROM event")) {
      row.next();
      assertThat(row.getLong(1)).isEqualTo(EventRing.KEPT);
      assertThat(row.getLong(2)).isEqualTo(2L * EventRing.KEPT);
    }
    open();
    assertThat(observer.events().last()).isEqualTo(2L * EventRing.KEPT + 1);
  }

  @Test
  void givenFileOfAnotherStore_thenIsRefused() {
    watch(Duration.ofSeconds(3));
    stop();
    try (HistoryFile other = HistoryFile.open(path, "redis://cache-2:6379")) {
      assertThatThrownBy(() -> other.read(10))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("cache-1")
          .hasMessageContaining("cache-2");
    }
    open();
  }

  @Test
  void givenFileInUse_thenIsRefused() {
    assertThatThrownBy(() -> HistoryFile.open(path, STORE))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("another console");
  }

  @ParameterizedTest
  @ValueSource(strings = {"database", "text"})
  void givenFileOfSomethingElse_thenIsRefused_andIsAsBefore(String kind) throws Exception {
    Path other = folder.resolve(kind);
    if (kind.equals("text")) {
      Files.writeString(other, "my precious notes, ".repeat(100));
    } else {
      try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + other);
          Statement statement = connection.createStatement()) {
        statement.execute("CREATE TABLE mortise_lock (name TEXT)");
      }
    }
    byte[] before = Files.readAllBytes(other);
    assertThatThrownBy(() -> HistoryFile.open(other, STORE)).isInstanceOf(RuntimeException.class);
    assertThat(Files.readAllBytes(other)).isEqualTo(before);
    try (var files = Files.list(folder)) {
      assertThat(files.filter(each -> each.getFileName().toString().startsWith(kind))).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2})
  void givenFileOfAnotherVersion_thenIsRefusedByName_andIsAsBefore(int version) throws Exception {
    watch(Duration.ofSeconds(3));
    stop();
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + path);
        Statement statement = connection.createStatement()) {
      try (ResultSet row = statement.executeQuery("PRAGMA user_version")) {
        row.next();
        assertThat(row.getInt(1)).isEqualTo(1);
      }
      statement.execute("PRAGMA user_version = " + version);
    }
    byte[] before = Files.readAllBytes(path);
    assertThatThrownBy(() -> HistoryFile.open(path, STORE))
        // Not the exception of a wrong option.
        .isInstanceOf(UncheckedIOException.class)
        .hasMessage(
            "History file '"
                + path
                + "' has version "
                + version
                + " of its tables, and this console uses version 1. Choose another file, or move this one away.");
    assertThat(Files.readAllBytes(path)).isEqualTo(before);
    path = folder.resolve("another.db");
    open();
  }

  @Test
  void givenNewFile_thenOnlyItsOwnerReadsIt() throws IOException {
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
        .isEqualTo("rw-------");
  }

  @Test
  void givenMissingFolder_thenIsRefused() {
    assertThatThrownBy(() -> HistoryFile.open(folder.resolve("no/history.db"), STORE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("folder '" + folder.resolve("no") + "' is missing. Make it");
  }
}
