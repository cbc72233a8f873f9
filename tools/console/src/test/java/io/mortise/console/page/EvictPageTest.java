package io.mortise.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.microsoft.playwright.Locator;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.console.ConsoleAction;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.TestStore;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Evictions from the page, and limits of a page's actions. */
@Tag("extended")
class EvictPageTest {
  @RegisterExtension final ConsolePage console = new ConsolePage();

  @Test
  void givenConsoleThatOnlyLooks_whenLockIsShown_thenThereIsNoButtonButTheWayToOne() {
    console.start(TestStore.MEMORY.newUrl());
    LockClient one = console.client("one");
    ConsolePage.hold(one, "job", "");
    console.queue(console.client("two"), "job", "");
    console.visit("/lock/job");
    assertThat(console.detail().locator("ol.queue li")).hasCount(1);
    assertThat(console.detail()).containsText("To allow it: --allow close");
    assertThat(console.page().getByText(Pattern.compile("Evict|End…|Open now"))).hasCount(0);
    console.page().keyboard().press("e");
    assertThat(console.page().locator("dialog")).hasCount(0);
    assertThat(console.page().getByText("Read-only")).isVisible();
  }

  @Test
  void givenConsoleThatMayOpenOnly_whenLockIsShown_thenItDoesNotSayThatItOnlyLooks() {
    console.start(
        TestStore.MEMORY.newUrl(), builder -> builder.allow(EnumSet.of(ConsoleAction.OPEN)));
    ConsolePage.hold(console.client("one"), "job", "");
    console.visit("/lock/job");
    assertThat(console.detail()).containsText("This console may not evict");
    assertThat(console.detail()).not().containsText("only looks");
  }

  @Test
  void givenHolder_whenEvictedGently_thenItIsToldAndThePageSaysWhoIsNext() {
    console.start(TestStore.REDIS.newUrl(), builder -> builder.allow(ConsolePage.ALL));
    Lease lease = ConsolePage.hold(console.client("one"), "job", "old");
    CompletableFuture<Void> told = new CompletableFuture<>();
    lease.onLost(loss -> told.complete(null));
    CompletableFuture<Lease> next = console.await(console.client("two"), "job", "new");

    console.visit("/lock/job");
    console.button("Evict…").click();
    Locator dialog = console.page().locator("dialog");
    assertThat(dialog).containsText("Nobody overlaps if it stops within that time");
    assertThat(dialog).containsText("Next in the queue");
    dialog.getByText("Evict", new Locator.GetByTextOptions().setExact(true)).click();
    BoundedWait.join(told);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    console.closed(BoundedWait.join(next));

    assertThat(console.page().locator(".note")).containsText("Let go after");
    assertThat(console.detail().locator(".facts")).containsText("new");
    assertThat(console.detail().locator(".events")).containsText("evicted");
  }

  @Test
  void givenHolder_whenBroken_thenTheNameHasToBeTyped() {
    console.start(TestStore.MEMORY.newUrl(), builder -> builder.allow(ConsolePage.ALL));
    ConsolePage.hold(console.client("one"), "job/1", "");
    console.visit("/lock/job%2F1");
    assertThat(console.button("Evict…")).isVisible();
    console.page().keyboard().press("e");
    Locator dialog = console.page().locator("dialog");
    dialog.getByText("Break: free the lock at once").click();
    Locator go = dialog.getByText("Evict", new Locator.GetByTextOptions().setExact(true));
    assertThat(go).isDisabled();
    dialog.getByLabel("Type the lock’s name to confirm").fill("job/2");
    assertThat(go).isDisabled();
    dialog.getByLabel("Type the lock’s name to confirm").fill("job/1");
    go.click();
    assertThat(console.page().locator(".note")).containsText("Free at once");
    assertThat(console.detail()).containsText("Nobody holds it");
  }

  @Test
  void givenShutLock_whenOpened_thenTheNameHasToBeTyped_andTheHistorySaysByWhom() {
    console.start(TestStore.MEMORY.newUrl(), builder -> builder.allow(ConsolePage.ALL));
    LockOptions kept = LockOptions.DEFAULTS.withAtLeast(Duration.ofMinutes(5));
    BoundedWait.join(console.client("one").lock("job", kept).acquireAsync()).close();
    console.visit("/lock/job");
    console.button("Open now…").click();
    Locator dialog = console.page().locator("dialog");
    Locator go = dialog.getByText("Open", new Locator.GetByTextOptions().setExact(true));
    assertThat(go).isDisabled();
    dialog.getByLabel("Type the lock’s name to confirm").fill("job");
    go.click();
    assertThat(console.page().locator(".note")).containsText("Opened lock");
    assertThat(console.detail().locator(".events")).containsText("opened by an operator");
  }

  @Test
  void givenAnotherHoldsByNow_whenEvicted_thenNothingIsDoneAndThePageSaysSo() {
    console.start(
        TestStore.MEMORY.newUrl(), builder -> builder.allow(EnumSet.of(ConsoleAction.CLOSE)));
    Lease first = ConsolePage.hold(console.client("one"), "job", "");
    console.visit("/lock/job");
    console.button("Evict…").click();
    Locator dialog = console.page().locator("dialog");
    // Only allowed actions are offered.
    assertThat(dialog.getByText("Break: free the lock at once")).hasCount(0);
    first.close();
    Lease second = ConsolePage.hold(console.client("two"), "job", "newcomer");
    dialog.getByText("Evict", new Locator.GetByTextOptions().setExact(true)).click();
    assertThat(console.page().locator(".note")).containsText("Nothing was done");
    assertThat(console.page().locator(".note")).containsText("holds it by now");
    assertThat(second.isValid()).isTrue();
  }

  @Test
  void givenWaiter_whenItsWaitIsEnded_thenItLeavesTheQueueAndTheHolderStays() {
    console.start(
        TestStore.MEMORY.newUrl(), builder -> builder.allow(EnumSet.of(ConsoleAction.CLOSE)));
    Lease lease = ConsolePage.hold(console.client("one"), "job", "");
    CompletableFuture<Lease> wait = console.await(console.client("two"), "job", "");
    console.visit("/lock/job");
    console.detail().locator("ol.queue li button").click();
    console.page().locator("dialog").getByText("End its wait").click();
    assertThat(console.detail().locator("ol.queue li")).hasCount(0);
    BoundedWait.until(BoundedWait.ANSWER, "the wait is over", wait::isDone);
    assertThat(lease.isValid()).isTrue();
  }
}
