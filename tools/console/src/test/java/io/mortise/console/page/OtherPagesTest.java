package io.mortise.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.BoundingBox;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testserver.TestStore;
import java.io.IOException;
import java.nio.file.Files;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Overview, history, doctor, guarantees and hazards, with their downloads. */
@Tag("extended")
class OtherPagesTest {
  @RegisterExtension final ConsolePage console = new ConsolePage();

  @Test
  void givenWaiter_whenOverviewIsShown_thenTroubleAndGroupsLeadToTheirLocks() {
    console.start(TestStore.MEMORY.newUrl());
    LockClient one = console.client("one");
    ConsolePage.hold(one, "invoice/1", "");
    ConsolePage.hold(one, "account/1", "transfer");
    console.visit("/");
    Page page = console.page();
    assertThat(page.locator("main")).containsText("No lock is in trouble");
    console.queue(console.client("two"), "account/1", "");
    assertThat(page.locator("section[aria-label='Waited for'] li")).containsText("account/1");
    assertThat(page.locator("section[aria-label='Trouble now']"))
        .containsText("No lock is in trouble");
    page.locator(".groups").getByText("invoice/").click();
    assertThat(console.table().locator("tbody tr")).hasCount(1);
    assertThat(console.row("invoice/")).isVisible();
  }

  /** A process that only waits has a short session, but is healthy. */
  @Test
  void givenWaiter_whenProcessesAreShown_thenItIsNotShownAsAboutToEnd() {
    console.start(TestStore.MEMORY.newUrl());
    ConsolePage.hold(console.client("one"), "account/1", "");
    console.queue(console.client("two"), "account/1", "");
    console.visit("/processes");
    Locator rows = console.page().locator("tbody tr");
    assertThat(rows.filter(new Locator.FilterOptions().setHasText("two"))).containsText("waiter");
    assertThat(rows.filter(new Locator.FilterOptions().setHasText("one"))).containsText("left");
  }

  @Test
  void givenDoctor_whenOverviewIsShown_thenTheGuaranteesAreAskedForOnce() {
    console.start(
        TestStore.MEMORY.newUrl(), builder -> builder.diagnostics(SampleDiagnostics::report));
    console.visit("/");
    assertThat(console.page().locator(".tiles")).containsText("redis/forgets");
  }

  @Test
  void givenEvents_whenHistoryIsShown_thenTheyAreFilteredZoomedAndKept() throws IOException {
    console.start(TestStore.MEMORY.newUrl());
    LockClient one = console.client("billing");
    console.visit("/history?t=5m");
    Page page = console.page();
    try (Lease lease = ConsolePage.hold(one, "=job", "nightly")) {
      assertThat(page.locator(".events")).containsText("granted");
      assertThat(page.locator(".lanes rect.bar.now")).hasCount(1);
      assertThat(lease.isValid()).isTrue();
    }
    assertThat(page.locator(".events")).containsText("released");
    Download csv = page.waitForDownload(() -> console.button("CSV").click());
    assertThat(Files.readString(csv.path())).contains("\"'=job\"").contains("released");

    BoundingBox box = page.locator(".lanes svg").boundingBox();
    page.mouse().move(box.x + box.width * 0.6, box.y + 20);
    page.mouse().down();
    page.mouse().move(box.x + box.width - 2, box.y + 20);
    page.mouse().up();
    assertThat(page).hasURL(Pattern.compile(".*from=\\d+&to=\\d+.*|.*to=\\d+&from=\\d+.*"));

    console.go("/history?kind=released");
    assertThat(page.locator(".events")).containsText("released");
    assertThat(page.locator(".events tr.granted")).hasCount(0);
  }

  @Test
  void givenWeakServer_whenDoctorAndGuaranteesAreShown_thenTheyNameTheRemedyAndTheDifference() {
    console.start(
        TestStore.MEMORY.newUrl(), builder -> builder.diagnostics(SampleDiagnostics::report));
    console.visit("/doctor");
    Page page = console.page();
    Locator findings = page.locator(".findings li");
    assertThat(findings.first()).containsText("WEAK");
    assertThat(findings.first()).containsText("Set appendonly yes");
    console.button("Look again").click();
    assertThat(findings).hasCount(3);
    page.getByText("redis/forgets").click();
    assertThat(page.locator("h1")).hasText("Guarantees");
    page.getByLabel("Compare with").selectOption("redis/always");
    assertThat(page.locator(".guarantees")).containsText("differs");
    assertThat(page).hasURL(Pattern.compile(".*with=redis%2Falways$"));
    page.locator("nav").getByText("Hazards").click();
    assertThat(page.getByLabel("Hazards of this store"))
        .containsText("mortise hazards run gc-pause");
    assertThat(page.getByLabel("Hazards of this store")).containsText("detected by token");
    assertThat(page.getByLabel("Hazards of other kinds of store"))
        .containsText("A server of a quorum forgets");
  }

  @Test
  void givenConsoleWithoutDoctor_whenAsked_thenItSaysHowToAskInATerminal() {
    console.start(TestStore.MEMORY.newUrl());
    console.visit("/doctor");
    assertThat(console.page().locator("main")).containsText("mortise doctor");
  }

  @Test
  void givenFilter_whenLocksAreKept_thenTheFileHasWhatTheFilterFinds() throws IOException {
    console.start(TestStore.MEMORY.newUrl());
    LockClient one = console.client("one");
    ConsolePage.hold(one, "a/1", "");
    ConsolePage.hold(one, "b/1", "");
    console.visit("/locks?prefix=a%2F");
    assertThat(console.table().locator("tbody tr")).hasCount(1);
    Download csv = console.page().waitForDownload(() -> console.button("CSV").click());
    assertThat(Files.readString(csv.path())).contains("a/1").doesNotContain("b/1");
  }
}
