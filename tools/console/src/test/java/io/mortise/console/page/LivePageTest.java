package io.mortise.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.console.Console;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.RedisServer;
import io.mortise.testserver.TestStore;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The link and the stream, and the page's reaction to the end of either. */
@Tag("extended")
class LivePageTest {
  @RegisterExtension final ConsolePage console = new ConsolePage();

  @Test
  void givenLink_whenVisited_thenTheTokenLeavesTheAddressAndOtherTabsOfTheBrowserHaveIt() {
    Console started = console.start(TestStore.MEMORY.newUrl());
    ConsolePage.hold(console.client("one"), "job", "");
    console.page().navigate(started.url().toString());
    assertThat(console.page().locator("h1")).hasText("Overview");
    assertThat(console.page()).hasURL(Pattern.compile(".*/#/$"));
    console.page().reload();
    assertThat(console.page().locator("h1")).hasText("Overview");

    var second = console.page().context().newPage();
    second.navigate(console.page().url().replaceAll("#.*", "#/lock/job"));
    assertThat(second.locator("#detail h2")).hasText("job");
  }

  @Test
  void givenWrongToken_whenVisited_thenItSaysWhereTheNewLinkIs() {
    Console started = console.start(TestStore.MEMORY.newUrl());
    console.page().navigate(started.url().toString().replaceAll("token=.*", "token=wrong"));
    assertThat(console.page().locator("main")).containsText("This link is no longer valid");
    assertThat(console.page().locator("main")).containsText("terminal");
  }

  @Test
  void givenAnswerThatIsCut_whenShown_thenThePageSaysThatItGotNone() {
    Console started = console.start(TestStore.MEMORY.newUrl());
    console.page().route("**/api/v1/stream*", Route::abort);
    console
        .page()
        .route(
            "**/api/v1/status",
            route -> route.fulfill(new Route.FulfillOptions().setBody("{\"nowAt\":")));
    console.page().navigate(started.url().toString());
    assertThat(console.page().locator(".alarm")).containsText("The console does not answer");
  }

  @Test
  void givenConsoleBelowPathOfProxy_whenItsConnectionsAreCut_thenThePageSaysSoAndIsLiveAgain() {
    FaultInjectionProxy proxy = console.closed(FaultInjectionProxy.to(1));
    Console started =
        console.start(
            TestStore.MEMORY.newUrl(),
            builder ->
                builder.behind(URI.create("http://127.0.0.1:" + proxy.port() + "/ops/mortise")));
    proxy.lead(started.address().getPort());
    LockClient one = console.client("one");
    Lease lease = ConsolePage.hold(one, "job", "");
    console.visit("/lock/job");
    assertThat(console.row("job")).isVisible();

    // Only the stream breaks, which is not visible.
    proxy.reset();
    lease.close();
    assertThat(console.detail()).containsText("Nobody holds it");

    proxy.cut();
    assertThat(console.page().locator(".alarm")).containsText("The console does not answer");
    Lease again = ConsolePage.hold(one, "job", "second");
    proxy.lead(started.address().getPort());
    assertThat(console.page().locator(".alarm")).hasCount(0);
    assertThat(console.detail()).containsText("second");
    assertThat(again.isValid()).isTrue();
  }

  @Test
  void givenStoreThatStops_whenShown_thenThePageKeepsWhatItHadUntilTheStoreIsBack() {
    RedisServer server =
        console.closed(
            RedisServer.start(
                TestPrerequisites.required(
                    RedisServer.bundled().or(() -> RedisServer.installed(6)), "A Redis server")));
    console.start(server.url() + "?timeout=1s");
    ConsolePage.hold(console.client("one"), "job", "before");
    console.visit("/lock/job");
    assertThat(console.row("job")).isVisible();

    server.pause();
    assertThat(console.page().locator(".alarm")).containsText("the store does not answer");
    assertThat(console.page().locator("html.outage")).hasCount(1);
    assertThat(console.detail()).containsText("before");
    assertThat(console.row("job")).isVisible();

    server.resume();
    assertThat(console.page().locator(".alarm")).hasCount(0);
    assertThat(console.page().locator("html.outage")).hasCount(0);
  }

  @Test
  void givenPausedPage_whenLocksChange_thenItAsksNothing_andShowsThemOnlyAfterwards() {
    console.start(TestStore.MEMORY.newUrl());
    LockClient one = console.client("one");
    ConsolePage.hold(one, "first", "");
    Page paused = console.page();
    List<String> asked = new CopyOnWriteArrayList<>();
    List<String> ended = new CopyOnWriteArrayList<>();
    paused.onRequest(request -> asked.add(request.url()));
    // A stream abandoned by the page fails; one ended by the console does not.
    paused.onRequestFailed(request -> ended.add(request.url()));
    paused.onRequestFinished(request -> ended.add(request.url()));
    console.visit("/locks");
    assertThat(console.row("first")).isVisible();
    assertThat(console.detail()).containsText("Last 30 minutes");
    paused.waitForCondition(() -> streams(asked) > streams(ended));
    paused.keyboard().press("p");
    assertThat(console.button("Paused, go on")).isVisible();
    paused.waitForCondition(() -> streams(ended) == streams(asked));
    asked.clear();

    // Another tab shows that the console streams them, one by one.
    Page live = paused.context().newPage();
    live.navigate(paused.url());
    Locator rows = live.getByRole(AriaRole.TABLE).first().locator("tbody tr");
    assertThat(rows).hasCount(1);
    for (int i = 2; i <= 4; i++) {
      ConsolePage.hold(one, "later/" + i, "");
      assertThat(rows).hasCount(i);
    }
    assertThat(console.table().locator("tbody tr")).hasCount(1);
    assertThat(asked).isEmpty();

    paused.keyboard().press("p");
    assertThat(console.table().locator("tbody tr")).hasCount(4);
  }

  private static long streams(List<String> urls) {
    return urls.stream().filter(url -> url.contains("/api/v1/stream")).count();
  }
}
