package io.mortise.console.page;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.TestPrerequisites;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The distribution's Chromium, one for all tests of the JVM, driven through the distribution's
 * Node: Playwright's own are neither needed nor downloaded.
 */
final class BrowserProcess {
  /** The bound of a test's waits. */
  static final double ANSWER_MILLIS =
      (double) BoundedWait.scaled(Duration.ofSeconds(15)).toMillis();

  private static @Nullable Browser browser;

  private BrowserProcess() {}

  /**
   * Returns the browser, started on first use.
   *
   * @throws org.opentest4j.TestAbortedException if this machine has none
   * @throws AssertionError if it has none, with {@code -Dmortise.ci=true}
   */
  static synchronized Browser get() {
    Path chromium = TestPrerequisites.required(find("chromium"), "The browser 'chromium'");
    Path node = TestPrerequisites.required(find("node"), "The program 'node' that drives it");
    if (browser == null) {
      Playwright playwright =
          Playwright.create(
              new Playwright.CreateOptions()
                  .setEnv(
                      Map.of(
                          "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD",
                          "1",
                          "PLAYWRIGHT_NODEJS_PATH",
                          node.toString())));
      browser =
          playwright
              .chromium()
              .launch(
                  new BrowserType.LaunchOptions()
                      .setExecutablePath(chromium)
                      // Unavailable to root, and unnecessary: the browser opens our own pages only.
                      .setChromiumSandbox(false)
                      .setArgs(List.of("--disable-gpu", "--disable-dev-shm-usage")));
      PlaywrightAssertions.setDefaultAssertionTimeout(ANSWER_MILLIS);
      Runtime.getRuntime().addShutdownHook(new Thread(playwright::close, "browser-end"));
    }
    return browser;
  }

  private static Optional<Path> find(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst();
  }
}
