package io.mortise.console.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.console.Console;
import io.mortise.console.ConsoleAction;
import io.mortise.console.ConsoleBuilder;
import io.mortise.testkit.BoundedWait;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A new console for each test, clients that hold and wait, and a page in a fresh profile. A test
 * also fails if the page has logged an error or violated its Content-Security-Policy. After a
 * failure, a picture of the page is in {@code target/browser}.
 */
final class ConsolePage implements BeforeEachCallback, AfterEachCallback {
  static final EnumSet<ConsoleAction> ALL = EnumSet.allOf(ConsoleAction.class);

  private final List<String> errors = new ArrayList<>();
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private Page page;
  private Console console;
  private String store;

  @Override
  public void beforeEach(ExtensionContext context) {
    show(ColorScheme.DARK, 1440, 900);
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    if (page != null && context.getExecutionException().isPresent()) {
      page.screenshot(
          new Page.ScreenshotOptions()
              .setPath(
                  Path.of(
                      "target",
                      "browser",
                      context.getRequiredTestClass().getSimpleName()
                          + "-"
                          + context.getRequiredTestMethod().getName()
                          + ".png")));
    }
    if (page != null) {
      // A request may arrive at a handler of the test while its context closes.
      page.unrouteAll();
    }
    while (!open.isEmpty()) {
      open.pop().close();
    }
    assertThat(errors).as("errors of the page").isEmpty();
  }

  /** Replaces the page by one in a new profile. */
  Page show(ColorScheme scheme, int width, int height) {
    Browser browser = BrowserProcess.get();
    BrowserContext context =
        browser.newContext(
            new Browser.NewContextOptions()
                .setColorScheme(scheme)
                .setReducedMotion(ReducedMotion.REDUCE)
                .setTimezoneId("UTC")
                .setViewportSize(width, height));
    open.push(context);
    context.setDefaultTimeout(BrowserProcess.ANSWER_MILLIS);
    page = context.newPage();
    page.onPageError(error -> errors.add(String.valueOf(error)));
    page.onConsoleMessage(
        message -> {
          // The browser logs failed requests as well; tests check their display on the page.
          if (message.type().equals("error")
              && !message.text().startsWith("Failed to load resource")) {
            errors.add(message.text());
          }
        });
    return page;
  }

  /** Errors of the page. */
  List<String> errors() {
    return errors;
  }

  /** Returns and clears errors of the page, for a test that provokes them. */
  List<String> takeErrors() {
    List<String> taken = List.copyOf(errors);
    errors.clear();
    return taken;
  }

  Page page() {
    return page;
  }

  /** Starts a console without actions on this store. */
  Console start(String url) {
    return start(url, builder -> builder);
  }

  Console start(String url, UnaryOperator<ConsoleBuilder> settings) {
    store = url;
    LockClient own = closed(LockClient.connect(url));
    console =
        closed(
            settings
                .apply(
                    Console.builder(own)
                        .budget(0.5)
                        .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)))
                .start());
    return console;
  }

  /** Uses the caller's console instead of a new one. */
  void use(Console other) {
    console = other;
  }

  /** Opens the link that the terminal shows, and from there a place of the page. */
  void visit(String fragment) {
    open();
    page.locator("main").waitFor(); // Keys pressed earlier have no effect.
    go(fragment);
  }

  /** Opens the link that the terminal shows. */
  void open() {
    page.navigate(console.url().toString());
  }

  /** Goes to a place of the page. */
  void go(String fragment) {
    page.navigate(console.url().toString().replaceAll("#.*", "#" + fragment));
  }

  /** A process that uses locks. */
  LockClient client(String name) {
    return closed(LockClient.builder().url(store).name(name).build());
  }

  /** Acquires a lock. */
  static Lease hold(LockClient client, String lock, String label) {
    try {
      return client
          .lock(lock, LockOptions.DEFAULTS.withLabel(label))
          .acquireWithin(BoundedWait.ANSWER);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Starts a wait for a held lock, and returns once the store knows it. */
  CompletableFuture<Lease> await(LockClient client, String lock, String label) {
    int before = waiters(client, lock);
    CompletableFuture<Lease> wait =
        client.lock(lock, LockOptions.DEFAULTS.withLabel(label)).acquireAsync();
    BoundedWait.until(
        BoundedWait.ANSWER, "the wait is in the queue", () -> waiters(client, lock) > before);
    return wait;
  }

  /** Like {@link #await}, ignoring the result of the wait. */
  void queue(LockClient client, String lock, String label) {
    CompletableFuture<Lease> unused = await(client, lock, label);
  }

  private static int waiters(LockClient client, String lock) {
    return client.admin().find(lock).map(info -> info.waiters().size()).orElse(0);
  }

  /** Registers a resource to be closed after the test, the newest first. */
  <T extends AutoCloseable> T closed(T resource) {
    open.push(resource);
    return resource;
  }

  /** The row of a lock in the list. */
  Locator row(String lock) {
    return table()
        .locator("tbody tr")
        .filter(new Locator.FilterOptions().setHas(page.getByText(lock).first()))
        .first();
  }

  Locator table() {
    return page.getByRole(
        AriaRole.TABLE, new Page.GetByRoleOptions().setName("Locks").setExact(true));
  }

  /** The details of the chosen lock. */
  Locator detail() {
    return page.locator("#detail");
  }

  Locator button(String name) {
    return page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name));
  }

  /** Accessibility violations that axe finds on the present page. */
  List<String> axe() {
    if (!(boolean) page.evaluate("() => 'axe' in window")) {
      try (var script = ConsolePage.class.getResourceAsStream("/axe.min.js")) {
        page.evaluate(new String(script.readAllBytes(), StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }
    Object found =
        page.evaluate(
            "() => axe.run({ resultTypes: ['violations'], preload: false }).then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 200))))");
    return ((List<?>) found).stream().map(String::valueOf).toList();
  }
}
