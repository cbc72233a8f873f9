package io.mortise.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testserver.TestStore;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The page of waits between processes. */
@Tag("extended")
class WaitsPageTest {
  @RegisterExtension final ConsolePage console = new ConsolePage();

  @Test
  void givenTwoSessionsThatWaitForEachOther_whenSeen_thenEachPageSaysSoUntilOneGivesUp() {
    console.start(TestStore.MEMORY.newUrl());
    LockClient one = console.client("transfer");
    LockClient two = console.client("audit");
    ConsolePage.hold(one, "account/1", "");
    ConsolePage.hold(two, "account/7", "");
    CompletableFuture<Lease> wait = console.await(one, "account/7", "");
    console.queue(two, "account/1", "");

    console.visit("/locks");
    Locator alarm = console.page().locator(".alarm");
    assertThat(alarm).containsText("Possible deadlock");
    assertThat(alarm).containsText("account/1");
    assertThat(console.table().getByLabel("held, in a cycle")).hasCount(2);
    console.page().getByText("Show the cycle").click();
    assertThat(console.page().locator(".note.bad li")).hasCount(2);
    assertThat(console.page().locator(".picture .part.bad")).hasCount(4);
    console.button("Tree").click();
    assertThat(console.page().locator(".note.bad")).containsText("account/7");

    wait.cancel(true);
    assertThat(alarm).hasCount(0);
    assertThat(console.page().locator(".note.bad")).hasCount(0);
  }

  @Test
  void givenHolderThatItselfWaits_whenShown_thenTheChainAndTheTreeLeadToTheRoot() {
    console.start(TestStore.MEMORY.newUrl());
    LockClient report = console.client("report");
    LockClient billing = console.client("billing");
    LockClient audit = console.client("audit");
    ConsolePage.hold(report, "export/ledger", "read snapshot");
    ConsolePage.hold(billing, "settlement", "settle.sh");
    console.queue(billing, "export/ledger", "settle.sh");
    console.queue(audit, "settlement", "read totals");

    console.visit("/lock/settlement");
    Locator chain = console.detail().locator(".chain");
    assertThat(chain).containsText("export/ledger");
    assertThat(console.detail()).containsText("the holder itself waits, for export/ledger");
    console.detail().getByText("Whole picture").click();
    assertThat(console.page().locator(".picture .part.lock")).hasCount(2);
    assertThat(console.page().locator(".picture .part.process")).hasCount(3);
    console.button("Tree").click();
    Locator tree = console.page().locator(".tree");
    assertThat(tree).containsText("holds export/ledger");
    assertThat(tree.locator("li li li li").first()).containsText("holds settlement");
    console.button("Picture").click();
    console.page().locator(".picture .part.lock").first().click();
    assertThat(console.detail().locator("h2")).not().isEmpty();
  }
}
