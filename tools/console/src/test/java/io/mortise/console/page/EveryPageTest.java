package io.mortise.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockClientBuilder;
import io.mortise.LockOptions;
import io.mortise.console.Console;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.JvmProcess;
import io.mortise.testserver.TestStore;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each page, on stores of each kind, while other processes hold, wait for each other, are killed
 * and paused. The processes use all stores at once, so that they start only once.
 */
@Tag("extended")
class EveryPageTest {
  private static final List<TestStore> STORES =
      List.of(TestStore.REDIS, TestStore.POSTGRESQL, TestStore.SQLITE);

  /** The TTL of processes that end: longer than pauses of machines. */
  private static final Duration SHORT = Duration.ofSeconds(5);

  private static final Duration LONG = Duration.ofMinutes(20);

  private static final Deque<AutoCloseable> OPEN = new ArrayDeque<>();
  private static final Map<TestStore, Console> CONSOLES = new EnumMap<>(TestStore.class);
  private static final Map<TestStore, StoreReport> REPORTS = new EnumMap<>(TestStore.class);
  private static JvmProcess transfer;
  private static JvmProcess audit;
  private static JvmProcess crashed;
  private static JvmProcess paused;

  @RegisterExtension final ConsolePage console = new ConsolePage();

  @BeforeAll
  static void setTheScene() throws Exception {
    Map<TestStore, String> urls = new EnumMap<>(TestStore.class);
    STORES.forEach(store -> urls.put(store, store.newUrl()));
    transfer = process("transfer", LONG, "account/1", urls.values());
    audit = process("audit", LONG, "account/7", urls.values());
    crashed = process("nightly", SHORT, "backup", urls.values());
    paused = process("report", SHORT, "export", urls.values());
    List<JvmProcess> processes = List.of(transfer, audit, crashed, paused);
    processes.forEach(process -> assertThat(process.line()).isEqualTo(Service.HOLDS));
    Map<TestStore, LockClient> heirs = new EnumMap<>(TestStore.class);
    for (TestStore store : STORES) {
      LockStore examined = closed(LockStore.connect(StoreUrl.parse(urls.get(store))));
      REPORTS.put(store, StoreReport.of(examined));
      LockClient own = closed(LockClient.connect(urls.get(store)));
      CONSOLES.put(
          store,
          closed(
              Console.builder(own)
                  .budget(0.5)
                  .allow(ConsolePage.ALL)
                  .diagnostics(() -> StoreReport.of(examined))
                  .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                  .start()));
      heirs.put(store, closed(LockClient.builder().url(urls.get(store)).name("heir").build()));
    }
    // Holds that end before they were seen are not in the history.
    CONSOLES.forEach(
        (store, each) ->
            BoundedWait.until(
                BoundedWait.ANSWER,
                "the first survey of " + store,
                () -> !each.cost().lastSurvey().isZero()));
    transfer.goOn();
    audit.goOn();
    List<CompletableFuture<Lease>> inherited = new ArrayList<>();
    heirs.values().forEach(heir -> inherited.add(heir.lock("export").acquireAsync()));
    crashed.close();
    pause(paused, List.copyOf(heirs.values()));
    inherited.forEach(BoundedWait::join);
  }

  /** A process paused within a transaction would block all others. */
  private static void pause(JvmProcess process, List<LockClient> others) throws Exception {
    process.pause();
    for (int i = 0; i < others.size(); i++) {
      CompletableFuture<Lease> probe = others.get(i).lock("probe").acquireAsync();
      try {
        probe.get(2, TimeUnit.SECONDS).close();
      } catch (TimeoutException e) {
        process.resume();
        BoundedWait.join(probe).close();
        process.pause();
        i--;
      }
    }
  }

  private static JvmProcess process(String name, Duration ttl, String lock, Iterable<String> urls) {
    List<String> arguments = new ArrayList<>(List.of(name, ttl.toString(), lock));
    urls.forEach(arguments::add);
    return closed(JvmProcess.start(Service.class, arguments.toArray(String[]::new)));
  }

  private static <T extends AutoCloseable> T closed(T resource) {
    OPEN.push(resource);
    return resource;
  }

  @AfterAll
  static void end() throws Exception {
    while (!OPEN.isEmpty()) {
      OPEN.pop().close();
    }
  }

  /** A process that holds a lock in several stores, then waits for the next. */
  static final class Service {
    static final String HOLDS = "holds";

    private Service() {}

    public static void main(String[] args) throws Exception {
      List<LockClient> clients = new ArrayList<>();
      for (String url : List.of(args).subList(3, args.length)) {
        LockClientBuilder builder = LockClient.builder().url(url).name(args[0]);
        LockClient client = builder.ttl(Duration.parse(args[1])).build();
        clients.add(client);
        LockOptions options = LockOptions.DEFAULTS.withLabel("step of " + args[0]);
        // A sweep may end the hold of a dead process; the at-least time keeps the lock visible.
        options = args[2].equals("backup") ? options.withAtLeast(LONG) : options;
        BoundedWait.join(client.lock(args[2], options).acquireAsync());
      }
      System.out.println(HOLDS);
      while (System.in.read() >= 0) {
        String next = args[2].equals("account/1") ? "account/7" : "account/1";
        for (LockClient client : clients) {
          CompletableFuture<Lease> unused = client.lock(next).acquireAsync();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = TestStore.class,
      names = {"REDIS", "POSTGRESQL", "SQLITE"})
  void givenProcessesThatHoldWaitAndDie_whenEachPageIsVisited_thenItSaysSo(TestStore store) {
    console.use(CONSOLES.get(store));
    Page page = console.page();
    Locator main = page.locator("main");
    List<String> found = new ArrayList<>();

    console.visit("/");
    assertThat(page.locator(".alarm")).containsText("Possible deadlock");
    assertThat(row(".rows li", "account/1")).containsText("in a cycle");
    assertThat(row(".rows li", "backup")).containsText("shut");
    look(found, "overview");

    console.go("/locks");
    assertThat(console.table().locator("tbody tr")).hasCount(4);
    assertThat(row("tbody tr", "account/7")).containsText(pid(audit));
    assertThat(row("tbody tr", "export")).not().containsText(pid(paused));
    look(found, "locks");

    console.go("/lock/account%2F1");
    assertThat(console.detail()).containsText("In a possible deadlock");
    assertThat(console.detail().locator(".facts")).containsText(pid(transfer));
    assertThat(console.detail().locator(".facts")).containsText("step of transfer");
    assertThat(console.detail().locator("ol.queue li")).containsText(pid(audit));
    look(found, "lock");

    console.go("/lock/backup");
    assertThat(console.detail()).containsText("shut for another");

    console.go("/waits");
    assertThat(page.locator(".note.bad li")).hasCount(2);
    assertThat(page.locator(".picture .part.bad")).hasCount(4);
    look(found, "picture of waits");
    console.button("Tree").click();
    assertThat(page.locator(".tree")).containsText("holds account/7");
    look(found, "tree of waits");

    console.go("/processes");
    assertThat(row("tbody tr", pid(transfer))).containsText("left");
    page.getByText(pid(audit)).click();
    assertThat(console.detail()).containsText("Waits for");
    look(found, "processes");
    console.detail().locator(".rows a").first().click();
    assertThat(console.detail().locator("h2")).containsText("account/");

    console.go("/history?t=5m");
    assertThat(row(".events tr.session_over", pid(crashed))).containsText("nightly");
    assertThat(row(".events tr.lost", "export")).containsText(pid(paused));
    assertThat(row(".events tr.granted", "export")).containsText("heir");
    assertThat(page.locator(".lanes rect.bar.now").first()).isVisible();
    look(found, "history");

    StoreReport report = REPORTS.get(store);
    console.go("/doctor");
    assertThat(main).containsText("The store is in mode " + report.mode());
    assertThat(page.locator(".findings li")).hasCount(report.findings().size());
    look(found, "doctor");

    console.go("/guarantees");
    assertThat(main).containsText("This installation: " + report.mode());
    assertThat(page.locator(".guarantees tbody tr").first()).isVisible();
    look(found, "guarantees");

    console.go("/hazards");
    assertThat(page.getByLabel("Hazards of this store")).containsText("mortise hazards run");
    look(found, "hazards");
    assertThat(found).isEmpty();
  }

  private static String pid(JvmProcess process) {
    return ":" + process.process().pid();
  }

  private Locator row(String rows, String text) {
    return console
        .page()
        .locator(rows)
        .filter(new Locator.FilterOptions().setHasText(text))
        .first();
  }

  private void look(List<String> found, String place) {
    console.axe().forEach(finding -> found.add(place + " " + finding));
  }
}
