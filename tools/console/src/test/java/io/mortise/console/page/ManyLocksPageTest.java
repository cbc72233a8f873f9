package io.mortise.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import io.mortise.LockClient;
import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A list as long as a large installation's. */
@Tag("extended")
class ManyLocksPageTest {
  private static final int LOCKS = 10_000;
  private static final int MOST_ROWS = 400;

  @RegisterExtension final ConsolePage console = new ConsolePage();

  @Test
  void givenTenThousandLocks_whenScrolledAndFiltered_thenOnlyRowsInSightAreInThePage() {
    console.start(TestStore.MEMORY.newUrl());
    LockClient one = console.client("api");
    for (int i = 0; i < LOCKS; i++) {
      assertThat(one.lock(String.format("invoice/%05d", i)).tryAcquire()).isPresent();
    }
    Page page = console.page();
    console.visit("/");
    assertThat(page.locator("nav")).containsText("10,000");

    console.go("/locks?sort=name");
    assertThat(console.row("00000")).isVisible();
    assertThat((int) page.evaluate("() => document.querySelectorAll('tr').length"))
        .isLessThan(MOST_ROWS);
    assertThat(page.locator(".keys .end")).containsText("of 10,000");

    console.table().locator("xpath=..").evaluate("box => { box.scrollTop = box.scrollHeight; }");
    assertThat(console.row("09999")).isVisible();
    assertThat((int) page.evaluate("() => document.querySelectorAll('tr').length"))
        .isLessThan(MOST_ROWS);
    console
        .table()
        .locator("xpath=..")
        .evaluate("box => { box.scrollTop = box.scrollHeight / 2; }");
    assertThat(console.row("05000")).isVisible();

    page.getByLabel("Names that begin with").fill("invoice/0471");
    assertThat(page.locator(".keys .end")).containsText("of 10");
    assertThat(console.row("04715")).isVisible();
    assertThat((int) page.evaluate("() => document.querySelectorAll('tr').length")).isLessThan(20);
  }
}
