package io.mortise.torture.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.guarantee.GuaranteeTable;
import io.mortise.spi.Capability;
import io.mortise.spi.StoreProfile;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.torture.history.CheckResult;
import io.mortise.torture.history.EventKind;
import io.mortise.torture.history.HistoryChecker;
import io.mortise.torture.history.HistoryEvent;
import io.mortise.torture.history.Timeline;
import io.mortise.torture.history.Timeline.DrawnHold;
import io.mortise.torture.history.Timeline.HoldEnd;
import io.mortise.torture.run.TortureRun.TortureResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of a run with a hand-written history. */
class TortureReportTest {
  private static final long SECOND = 1_000_000_000;

  @TempDir private Path folder;

  private final List<HistoryEvent> history = new ArrayList<>();

  private void event(double seconds, EventKind kind, int client, String lock, long attempt) {
    long nanos = Math.round(seconds * SECOND);
    if (kind == EventKind.HOLDS) {
      event(seconds, EventKind.ASKS, client, lock, attempt);
    }
    history.add(
        new HistoryEvent(
            nanos,
            kind,
            client * HistoryEvent.PROCESS + (attempt == 0 ? 0 : 1),
            lock,
            attempt,
            0,
            0));
  }

  private void hold(String lock, int client, long attempt, double from, double sure, double gave) {
    event(from, EventKind.HOLDS, client, lock, attempt);
    event(sure, EventKind.SURE, client, lock, attempt);
    event(gave, EventKind.GAVE, client, lock, attempt);
  }

  /** A pause that breaks the naive lock but not Mortise's. */
  private Timeline paused() {
    hold("hot-0", 1, 1, 1, 2, 2.01);
    event(3, EventKind.HOLDS, 1, "hot-0", 2);
    event(3.5, EventKind.SURE, 1, "hot-0", 2);
    event(3.6, EventKind.FAULT, 1, "pause", 0);
    event(8, EventKind.HEALED, 1, "pause", 0);
    event(8.01, EventKind.LOST, 1, "hot-0", 2);
    event(8.02, EventKind.GAVE_LOST, 1, "hot-0", 2);
    hold("hot-0", 2, 1, 6, 7, 7.01);
    hold("naive-0", 3, 1, 3, 8.1, 8.2);
    hold("naive-0", 4, 1, 6, 9, 9.1);
    event(9, EventKind.HOLDS, 5, "hot-0", 1);
    event(9.5, EventKind.SURE, 5, "hot-0", 1);
    // The history of the run itself may be read first or last.
    event(9.7, EventKind.KILLED, 5, "", 0);
    Timeline timeline = new Timeline(0, 10 * SECOND);
    history.forEach(timeline::take);
    return timeline;
  }

  private String page(Timeline timeline) {
    TorturePlan plan =
        new TorturePlan(
            Duration.ofSeconds(10),
            Duration.ofSeconds(2),
            2,
            2,
            2,
            0,
            EnumSet.of(InjectedFault.PAUSE),
            Duration.ofMillis(500),
            42);
    ExpectedGuarantees promises =
        ExpectedGuarantees.of(
            GuaranteeTable.load(),
            "redis/always",
            new StoreProfile(
                "a store", EnumSet.allOf(Capability.class), plan.ttl(), plan.ttl(), Duration.ZERO),
            Set.of(InjectedFault.PAUSE));
    HistoryChecker checker = new HistoryChecker(plan.ttl(), plan.patience(), promises.effects());
    history.forEach(checker::take);
    CheckResult verdict = checker.check();
    return new TortureReport(
            new TortureResult(
                "redis </script><script>x()</script>",
                promises,
                plan,
                1,
                Duration.ofSeconds(10),
                verdict,
                timeline),
            "mortise torture --seed 42")
        .html();
  }

  @Test
  void givenHolds_whenDrawn_thenEachEndsWhereItsLeaseWasLastSeenValid() {
    assertThat(paused().holds("hot-0"))
        .containsExactly(
            new DrawnHold(1, SECOND, 2 * SECOND, 2_010_000_000L, HoldEnd.GAVE),
            new DrawnHold(1, 3 * SECOND, 3_500_000_000L, 8_010_000_000L, HoldEnd.LOST),
            new DrawnHold(2, 6 * SECOND, 7 * SECOND, 7_010_000_000L, HoldEnd.GAVE),
            new DrawnHold(5, 9 * SECOND, 9_500_000_000L, 9_700_000_000L, HoldEnd.KILLED));
  }

  @Test
  void givenPause_whenOverlapsAreDrawn_thenOnlyTheNaiveLockHasOne() {
    Timeline timeline = paused();
    assertThat(timeline.overlaps("hot-0")).isEmpty();
    assertThat(timeline.overlaps("naive-0"))
        .containsExactly(new Timeline.Overlap(6 * SECOND, 8_100_000_000L, 3, 4));
  }

  @Test
  void givenPage_thenItNeedsNothingElse_andForeignTextIsNoMarkup() {
    String page = page(paused());
    assertThat(page)
        .doesNotContain("{{", "<script>x()", "src=", "<link", "@import")
        .contains("default-src 'none'", "prefers-color-scheme: dark", "<code>mortise torture");
    // All imports of modules are in the map.
    Matcher map =
        Pattern.compile("\"([a-z./]+)\": \"data:text/javascript;base64,([^\"]+)\"").matcher(page);
    List<MatchResult> modules = map.results().toList();
    List<String> names = modules.stream().map(module -> module.group(1)).toList();
    assertThat(names).contains("preact", "preact/hooks", "timeline.js", "dom.js");
    Pattern imported = Pattern.compile("from ?[\"']([^\"']+)[\"']");
    String sources =
        modules.stream()
            .map(module -> new String(Base64.getDecoder().decode(module.group(2)), UTF_8))
            .collect(Collectors.joining("\n"));
    assertThat(imported.matcher(sources + page).results().map(found -> found.group(1)))
        .isNotEmpty()
        .allSatisfy(name -> assertThat(names).contains(name));
  }

  @Test
  void givenPage_whenABrowserShowsIt_thenThereAreBarsAndAnAxisAndTheOverlapIsRed()
      throws Exception {
    Path file = Files.writeString(folder.resolve("page.html"), page(paused()));
    String drawn = drawn(file);
    assertThat(drawn)
        .contains(
            "class=\"bar overlap\"",
            "class=\"bar unseen\"",
            "clients 3 and 4 both believed to hold naive-0 for 2.100 s",
            "class=\"bar fault\"",
            "class=\"band\"",
            "control: a naive lock",
            ">10 s</text>")
        .contains("client 1, at 3.000 s: seen valid for 0.500 s, then its lease was seen lost");
    assertThat(drawn.split("class=\"bar overlap\"", -1)).as("one, and its legend").hasSize(3);
  }

  /** The page after its scripts have run in a browser. */
  private String drawn(Path file) throws IOException, InterruptedException {
    Path profile = Files.createDirectory(folder.resolve("profile"));
    Path out = folder.resolve("drawn");
    ProcessBuilder builder =
        new ProcessBuilder(
                "chromium",
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--user-data-dir=" + profile,
                "--virtual-time-budget=5000",
                "--dump-dom",
                file.toUri().toString())
            .redirectOutput(out.toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    Process browser = TestPrerequisites.required(started(builder), "The browser 'chromium'");
    try {
      assertThat(browser.waitFor(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      browser.descendants().forEach(ProcessHandle::destroyForcibly);
      browser.destroyForcibly().waitFor();
    }
    return Files.readString(out);
  }

  private static Optional<Process> started(ProcessBuilder builder) {
    try {
      return Optional.of(builder.start());
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
