package io.mortise.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import io.mortise.LockClient;
import io.mortise.testserver.TestStore;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The page with a screen reader, with the keyboard only, and on a phone. */
@Tag("extended")
class PageAccessTest {
  private static final List<String> PAGES =
      List.of(
          "/",
          "/locks",
          "/lock/account%2F1",
          "/waits",
          "/waits?as=tree",
          "/processes",
          "/history",
          "/doctor",
          "/guarantees",
          "/hazards");

  @RegisterExtension final ConsolePage console = new ConsolePage();

  private void fill() {
    console.start(
        TestStore.MEMORY.newUrl(),
        builder -> builder.allow(ConsolePage.ALL).diagnostics(SampleDiagnostics::report));
    LockClient one = console.client("transfer");
    LockClient two = console.client("audit");
    ConsolePage.hold(one, "account/1", "transfer 8841");
    ConsolePage.hold(two, "account/7", "transfer 8839");
    console.queue(one, "account/7", "");
    console.queue(two, "account/1", "");
    console.closed(one.semaphore("slots", 3).tryAcquire().orElseThrow());
  }

  /** For the dark theme see {@link EveryPageTest}. */
  @Test
  void givenEachPageAndDialogInTheLight_whenAxeLooks_thenItFindsNothing() {
    console.show(ColorScheme.LIGHT, 1440, 900);
    fill();
    console.visit("/");
    assertThat(console.page().locator(".alarm")).containsText("Possible deadlock");
    List<String> found = new ArrayList<>();
    for (String page : PAGES) {
      console.go(page);
      assertThat(console.page().locator("main h1").first()).isVisible();
      assertThat(console.page().getByText("It looks …")).hasCount(0);
      console.axe().forEach(finding -> found.add(page + " " + finding));
    }
    console.go("/lock/account%2F1");
    console.button("Evict…").click();
    console.page().getByText("Break: free the lock at once").click();
    console.axe().forEach(finding -> found.add("dialog " + finding));
    console.page().keyboard().press("Escape");
    console.page().keyboard().press("?");
    console.axe().forEach(finding -> found.add("keys " + finding));
    assertThat(found).isEmpty();

    // The positive control: a button without a name.
    console.page().keyboard().press("Escape");
    console
        .page()
        .evaluate("() => document.querySelector('h1').append(document.createElement('button'))");
    assertThat(console.axe()).anySatisfy(finding -> assertThat(finding).contains("button-name"));
  }

  @Test
  void givenKeyboardAlone_whenUsed_thenEverythingIsReached() {
    fill();
    // The order by problem may change between two keys, as the console learns of waiters.
    console.visit("/locks?sort=name");
    assertThat(console.table().locator("tbody tr")).hasCount(3);
    var keyboard = console.page().keyboard();
    keyboard.press("ArrowDown");
    assertThat(console.table().locator("tr[aria-selected=true]"))
        .hasAttribute("aria-rowindex", "3");
    keyboard.press("k");
    assertThat(console.table().locator("tr[aria-selected=true]"))
        .hasAttribute("aria-rowindex", "2");
    keyboard.press("Enter");
    assertThat(console.detail()).isFocused();
    // The key does nothing until there is something to evict.
    assertThat(console.button("Evict…")).isVisible();
    keyboard.press("e");
    assertThat(console.page().locator("dialog")).isVisible();
    assertThat(console.page().locator("dialog input").first()).isFocused();
    keyboard.press("Escape");
    assertThat(console.page().locator("dialog")).hasCount(0);
    keyboard.press("Escape");
    assertThat(console.page()).hasURL(Pattern.compile(".*#/locks\\?sort=name$"));
    keyboard.press("3");
    assertThat(console.page().locator("h1")).hasText("Waits");
    keyboard.press("?");
    assertThat(console.page().locator("dialog")).containsText("Keys");
    // While keys are off, a single key does nothing.
    console.page().getByText("Keys are on").click();
    keyboard.press("Escape");
    keyboard.press("1");
    assertThat(console.page().locator("h1")).hasText("Waits");
    keyboard.press("Tab");
    assertThat(console.page().locator(":focus")).hasCount(1);
  }

  /** Before the next frame, like a fast user's key. */
  @Test
  void givenKeyAtTheInstantWhenThePageIsThere_thenItIsNotLost() {
    console
        .page()
        .addInitScript(
            """
            window.opened = [];
            let pressed = false;
            new MutationObserver(() => {
              const dialog = document.querySelector('dialog');
              if (dialog) opened.push(dialog.open);
              if (pressed || !document.querySelector('main h1')) return;
              pressed = true;
              document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '3', bubbles: true }));
            }).observe(document, { subtree: true, childList: true });\
            """);
    fill();
    console.open();
    assertThat(console.page().locator("h1")).hasText("Waits");
    console.page().keyboard().press("?");
    assertThat(console.page().locator("dialog")).isVisible();
    assertThat(console.page().evaluate("() => opened[0]"))
        .as("a dialog is modal at once, so that a key goes to it")
        .isEqualTo(true);
  }

  @Test
  void givenPhone_whenEachPageIsShown_thenNothingIsCutAndTheListComesBeforeTheDetail() {
    Page page = console.show(ColorScheme.LIGHT, 400, 800);
    fill();
    console.visit("/");
    for (String each : PAGES) {
      console.go(each);
      assertThat(page.locator("main h1, main h2").first()).isVisible();
      assertThat(page.evaluate("() => document.documentElement.scrollWidth")).isEqualTo(400);
    }
    console.go("/locks");
    assertThat(console.detail()).hasCount(0);
    console.row("account/").click();
    assertThat(console.detail().locator("h2")).containsText("account/");
    assertThat(console.table()).hasCount(0);
    page.getByLabel("Back to the list").click();
    assertThat(console.table()).isVisible();
  }
}
