package io.mortise.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.microsoft.playwright.Locator;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.console.ClientProxy;
import io.mortise.console.Console;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.TestStore;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The page on a store without a clock, where only a waiter can detect dead holders. */
@Tag("extended")
class ClocklessPageTest {
  private static final Duration RENEWED_AGO = Duration.ofSeconds(11);

  @RegisterExtension final ConsolePage console = new ConsolePage();

  /** A client that reports renewal times of sessions, but never their end. */
  private static LockClient clockless(LockClient real) {
    return ClientProxy.of(
        real,
        (admin, method, arguments) -> {
          Object answer = ClientProxy.call(admin, method, arguments);
          return switch (method.getName()) {
            case "find" -> ((Optional<?>) answer).map(lock -> unjudged((LockInfo) lock));
            case "sessions" -> unjudged((Page<?>) answer);
            default -> answer;
          };
        });
  }

  private static Page<SessionInfo> unjudged(Page<?> page) {
    return new Page<>(
        page.items().stream()
            .map(SessionInfo.class::cast)
            .map(
                session ->
                    new SessionInfo(
                        session.session(),
                        session.client(),
                        session.ttl(),
                        session.ttl(),
                        RENEWED_AGO))
            .toList(),
        page.next());
  }

  private static LockInfo unjudged(LockInfo lock) {
    return new LockInfo(
        lock.name(),
        lock.permits(),
        lock.lastToken(),
        lock.shutFor(),
        unjudged(lock.holders()),
        unjudged(lock.waiters()),
        0,
        lock.waiterCount(),
        lock.lastEnd());
  }

  private static List<LockParticipant> unjudged(List<LockParticipant> parties) {
    return parties.stream()
        .map(
            party ->
                new LockParticipant(
                    party.attempt(),
                    party.client(),
                    party.label(),
                    party.share(),
                    party.token(),
                    party.since(),
                    party.sessionTtl(),
                    party.atMostLeft(),
                    party.sticky(),
                    party.idleLeft(),
                    party.sessionTtl(),
                    RENEWED_AGO))
        .toList();
  }

  @Test
  void givenHolderThatNobodyHasJudged_thenThePageSaysWhenItWasRenewed_andPromisesNoEnd() {
    String url = TestStore.MEMORY.newUrl();
    LockClient own = console.closed(LockClient.connect(url));
    console.use(
        console.closed(
            Console.builder(clockless(own))
                .budget(0.5)
                .allow(ConsolePage.ALL)
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .start()));
    LockClient one = console.closed(LockClient.connect(url));
    Lease lease = ConsolePage.hold(one, "job", "");
    CompletableFuture<Void> told = new CompletableFuture<>();
    lease.onLost(loss -> told.complete(null));
    LockClient two = console.closed(LockClient.connect(url));
    CompletableFuture<Lease> next = console.await(two, "job", "");

    console.visit("/processes");
    Locator alive = console.page().locator("td.c-alive").first();
    assertThat(alive).hasText(Pattern.compile("renewed 1\\ds ago"));

    console.visit("/lock/job");
    Locator facts = console.detail().locator(".facts");
    assertThat(facts).containsText(Pattern.compile("renewed 1\\ds ago.*TTL \\d+s"));
    assertThat(facts).not().containsText("left");
    assertThat(console.detail().locator(".heads")).containsText("renewed");
    assertThat(console.detail().locator("ol.queue .sess")).hasText(Pattern.compile("1\\ds ago"));
    console.button("Evict…").click();
    Locator dialog = console.page().locator("dialog");
    assertThat(dialog)
        .containsText(Pattern.compile("or until a waiter has seen no renewal for \\d+s\\."));
    assertThat(dialog).not().containsText("session is over");
    dialog.getByText("Evict", new Locator.GetByTextOptions().setExact(true)).click();
    BoundedWait.join(told);
    Locator note = console.page().locator(".note");
    assertThat(note).containsText("stays shut until that process lets go, or until a waiter");
    assertThat(note).not().containsText("at most");
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    console.closed(BoundedWait.join(next));
    assertThat(note).containsText("Let go after");
  }
}
