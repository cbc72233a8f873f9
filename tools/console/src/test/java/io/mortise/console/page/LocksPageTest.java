package io.mortise.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.options.AriaRole;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.TestStore;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The list of all locks. */
class LocksPageTest {
  @RegisterExtension final ConsolePage console = new ConsolePage();

  @Test
  void givenHolderAndWaiter_whenTheHolderReleases_thenThePageFollowsToTheNext() {
    console.start(TestStore.MEMORY.newUrl());
    LockClient one = console.client("billing");
    LockClient two = console.client("audit");
    Lease lease = ConsolePage.hold(one, "settlement/2026-11-24", "settle.sh --region eu");
    CompletableFuture<Lease> wait = console.await(two, "settlement/2026-11-24", "read totals");

    console.visit("/lock/settlement%2F2026-11-24");
    assertThat(console.row("settlement/")).containsText("settle.sh --region eu");
    assertThat(console.row("settlement/")).containsText("first");
    assertThat(console.detail()).containsText("settle.sh --region eu");
    assertThat(console.detail().locator("ol.queue li")).hasText(Pattern.compile(".*read totals.*"));
    assertThat(console.detail()).containsText("1 waiting");

    lease.close();
    console.closed(BoundedWait.join(wait));
    assertThat(console.detail().locator(".facts")).containsText("read totals");
    assertThat(console.row("settlement/")).containsText("read totals");
    assertThat(console.detail().locator(".events")).containsText("released");
  }

  @Test
  void givenLocksOfSeveralKinds_whenListed_thenTroubleIsFirstAndFiltersHaveTheirCounts() {
    console.start(TestStore.MEMORY.newUrl());
    LockClient one = console.client("one");
    LockClient two = console.client("two");
    ConsolePage.hold(one, "a/idle", "");
    ConsolePage.hold(one, "z/wanted", "");
    console.queue(two, "z/wanted", "");
    var semaphore = one.semaphore("slots", 3);
    console.closed(semaphore.tryAcquire().orElseThrow());
    console.closed(one.readWriteLock("ledger").readLock().tryAcquire().orElseThrow());
    console.closed(two.readWriteLock("ledger").readLock().tryAcquire().orElseThrow());

    console.visit("/locks");
    assertThat(console.table().locator("tbody tr").first()).containsText("z/wanted");
    assertThat(console.row("slots").getByLabel("permits")).isVisible();
    assertThat(console.row("ledger").getByLabel("shared")).isVisible();
    // The first is shown beside the list.
    assertThat(console.detail().locator("h2")).hasText("z/wanted");

    console.button("Waited for 1").click();
    assertThat(console.table().locator("tbody tr")).hasCount(1);
    console.button("All 4").click();
    assertThat(console.table().locator("tbody tr")).hasCount(4);

    console.page().getByLabel("Names that begin with").fill("a/");
    assertThat(console.table().locator("tbody tr")).hasCount(1);
    assertThat(console.page()).hasURL(Pattern.compile(".*#/locks\\?prefix=a%2F$"));
    console.page().reload();
    assertThat(console.page().getByLabel("Names that begin with")).hasValue("a/");
  }

  @Test
  void givenNoLock_whenVisited_thenItSaysHowToMakeTheFirst() {
    console.start(TestStore.MEMORY.newUrl());
    console.visit("/locks");
    assertThat(console.page().locator("main")).containsText("No lock is held");
    console.go("/");
    assertThat(console.page().locator("main")).containsText("mortise run");
  }

  @Test
  void givenLock_whenJumpedToByPartOfItsLabelOrExactName_thenItIsShown() {
    console.start(TestStore.MEMORY.newUrl());
    ConsolePage.hold(console.client("one"), "invoice/4711", "transfer 8841");
    console.visit("/");
    console.page().keyboard().press("/");
    console.page().keyboard().type("8841");
    assertThat(console.page().getByRole(AriaRole.OPTION).first()).containsText("invoice/4711");
    console.page().keyboard().press("Enter");
    assertThat(console.detail().locator("h2")).hasText("invoice/4711");

    console.page().keyboard().press("/");
    console.page().keyboard().type("never/used");
    assertThat(console.page().getByText("The lock named exactly")).isVisible();
    console.page().keyboard().press("Enter");
    assertThat(console.detail().locator("h2")).hasText("never/used");
    assertThat(console.detail()).containsText("Nobody holds it");
  }

  @Test
  void givenLocksNamedLikeWaysUp_whenOpened_thenEachIsShown() {
    console.start(TestStore.MEMORY.newUrl());
    LockClient one = console.client("one");
    for (String name : List.of(".", "..", "%2E")) {
      ConsolePage.hold(one, name, "of " + name);
      console.visit("/lock/" + name.replace("%", "%25"));
      assertThat(console.detail().locator("h2")).hasText(name);
      assertThat(console.detail().locator(".facts")).containsText("of " + name);
    }
  }
}
