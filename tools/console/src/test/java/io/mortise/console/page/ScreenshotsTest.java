package io.mortise.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.TestStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Makes the pictures of the documentation, each page in both themes, with {@code
 * -Dmortise.screenshots.update=true}.
 */
@EnabledIfSystemProperty(named = "mortise.screenshots.update", matches = "true")
class ScreenshotsTest {
  /** The default of the console's builder, which {@link ConsolePage} raises. */
  private static final double LIMIT = 0.01;

  @RegisterExtension final ConsolePage console = new ConsolePage();

  private static Map<String, String> pages() {
    Map<String, String> pages = new LinkedHashMap<>();
    pages.put("overview", "/");
    pages.put("locks", "/lock/settlement%2F2026-11-24");
    pages.put("waits", "/waits");
    pages.put("tree", "/waits?as=tree");
    pages.put("processes", "/processes");
    pages.put("history", "/history?t=5m");
    pages.put("doctor", "/doctor");
    pages.put("guarantees", "/guarantees?with=redis%2Falways");
    pages.put("hazards", "/hazards");
    return pages;
  }

  @Timeout(400)
  @ParameterizedTest
  @EnumSource(
      value = ColorScheme.class,
      names = {"DARK", "LIGHT"})
  void givenBusyStore_whenEachPageIsShown_thenItsPictureIsKept(ColorScheme scheme) {
    Page page = console.show(scheme, 1440, 860);
    console.start(
        TestStore.REDIS.newUrl(),
        builder ->
            builder.allow(ConsolePage.ALL).budget(LIMIT).diagnostics(SampleDiagnostics::healthy));
    LockClient billing = console.client("billing");
    LockClient report = console.client("report");
    LockClient api = console.client("api");
    LockClient mail = console.client("mail");
    LockClient edge = console.client("billing");
    LockClient audit = console.client("audit");
    ConsolePage.hold(api, "account/1", "transfer 8841");
    ConsolePage.hold(mail, "account/7", "transfer 8839");
    console.queue(api, "account/7", "transfer 8841");
    console.queue(mail, "account/1", "transfer 8839");
    console.visit("/");
    for (int i = 0; i < 12; i++) {
      Lease lease = ConsolePage.hold(edge, "settlement/2026-11-24", "settle.sh --region us");
      assertThat(page.locator("nav")).containsText("Locks");
      page.waitForTimeout(700);
      lease.close();
    }
    console.closed(report.readWriteLock("export/ledger").readLock().tryAcquire().orElseThrow());
    ConsolePage.hold(billing, "settlement/2026-11-24", "settle.sh --region eu");
    console.queue(billing, "export/ledger", "settle.sh --region eu");
    console.queue(edge, "settlement/2026-11-24", "settle.sh --region us");
    console.queue(audit, "settlement/2026-11-24", "read totals");
    console.closed(mail.semaphore("mail-slots", 10).tryAcquire().orElseThrow());
    for (int i = 48_213; i < 48_230; i++) {
      ConsolePage.hold(api, "invoice/" + i, "pdf");
    }
    assertThat(page.locator(".alarm")).containsText("Possible deadlock");
    assertThat(page.locator("main")).containsText("redis/always");
    pages()
        .forEach(
            (name, place) -> {
              console.go(place);
              assertThat(page.locator("main h1").first()).isVisible();
              page.waitForTimeout(2500);
              // The first looks cost more.
              BoundedWait.until(
                  Duration.ofMinutes(2),
                  "the cost is below its limit",
                  () -> costPercent(page) < 100 * LIMIT);
              keep(name, scheme);
            });
    console.go("/lock/settlement%2F2026-11-24");
    console.button("Evict…").click();
    keep("evict", scheme);
  }

  private static double costPercent(Page page) {
    return Double.parseDouble(page.locator(".cost b").textContent().replaceAll("[^0-9.]", ""));
  }

  private void keep(String name, ColorScheme scheme) {
    String file = name + "-" + scheme.name().toLowerCase(Locale.ROOT) + ".png";
    try {
      byte[] picture = new IndexedPicture(console.page().screenshot()).png();
      assertThat(picture.length).as(file).isBetween(10_000, 150_000);
      Files.write(Path.of("../../docs/console", file), picture);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
