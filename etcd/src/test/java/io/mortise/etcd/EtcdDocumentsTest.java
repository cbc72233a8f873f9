package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.spi.StoreUrl;
import io.mortise.spi.document.VersionedDocuments.VersionedText;
import io.mortise.spi.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.EtcdServer;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents in a real etcd, and what of them is written late. */
class EtcdDocumentsTest {
  private final String url =
      EtcdServers.shared().url() + "?namespace=" + EtcdServers.namespace() + "&timeout=10s";
  private final List<EtcdDocuments> opened = new ArrayList<>();
  private final EtcdDocuments documents = open();

  private EtcdDocuments open() {
    return open(url);
  }

  private EtcdDocuments open(String where) {
    EtcdTarget target = EtcdTarget.parse(StoreUrl.parse(where));
    EtcdDocuments made =
        new EtcdDocuments(new EtcdGateway(target, "test"), target.prefix(), () -> 0);
    opened.add(made);
    return made;
  }

  @AfterEach
  void close() {
    opened.forEach(EtcdDocuments::close);
  }

  private VersionedText read(String key) {
    return BoundedWait.join(documents.read(key));
  }

  private boolean write(String key, VersionedText found, String text) {
    return BoundedWait.join(documents.compareAndSet(key, found, text)).made();
  }

  private boolean remove(String key, VersionedText found) {
    return BoundedWait.join(documents.compareAndSet(key, found, null)).made();
  }

  @Test
  void givenDocument_thenItIsReplacedByItsVersionOnly_andVersionsRise() {
    VersionedText absent = read("lock/a");
    assertThat(absent.text()).isNull();
    assertThat(write("lock/a", absent, "one\ttwo\né 😀")).isTrue();
    assertThat(write("lock/a", absent, "other")).isFalse();
    VersionedText first = read("lock/a");
    assertThat(first.text()).isEqualTo("one\ttwo\né 😀");
    assertThat(write("lock/a", first, "")).isTrue();
    assertThat(write("lock/a", first, "late")).isFalse();
    VersionedText second = read("lock/a");
    assertThat(second.text()).isEmpty();
    assertThat(List.of(absent, first, second))
        .extracting(found -> Long.parseLong(found.version()))
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(remove("lock/a", first)).isFalse();
    assertThat(remove("lock/a", second)).isTrue();
    assertThat(read("lock/a").text()).isNull();
  }

  @Test
  void givenDocumentThatWasMadeAndRemoved_whenAWriteThatFoundNoneArrivesLate_thenItIsRefused() {
    VersionedText before = read("lock/a");
    assertThat(write("lock/a", before, "made")).isTrue();
    assertThat(remove("lock/a", read("lock/a"))).isTrue();
    assertThat(write("lock/a", before, "late")).isFalse();
    assertThat(read("lock/a").text()).isNull();
    assertThat(write("lock/a", read("lock/a"), "anew")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenWriteThatArrivesLate_thenItIsMadeOnlyIfNobodyWroteMeanwhile(boolean meanwhile) {
    assertThat(write("lock/a", read("lock/a"), "first")).isTrue();
    VersionedText found = read("lock/a");
    int port = EtcdServers.shared().port();
    try (FaultInjectionProxy way = FaultInjectionProxy.to(port)) {
      EtcdDocuments far =
          open(url.replace(":" + port, ":" + way.port()).replace("timeout=10s", "timeout=1m"));
      BoundedWait.join(far.read("lock/a"));
      way.weather(NetworkCondition.REQUESTS_HELD);
      CompletableFuture<Written> late =
          far.compareAndSet("lock/a", found, "late").toCompletableFuture();
      if (meanwhile) {
        assertThat(write("lock/a", found, "end")).isTrue();
      }
      assertThat(late).isNotDone();
      way.weather(NetworkCondition.FAIR);
      assertThat(BoundedWait.join(late).made()).isNotEqualTo(meanwhile);
      assertThat(read("lock/a").text()).isEqualTo(meanwhile ? "end" : "late");
    }
  }

  @Test
  void givenManyDocuments_thenTheyAreListedPageByPage_eachKindByItself() {
    List<String> names = List.of("lock/", "lock/a", "lock/a\u00e9", "lock/b", "lock/\uD83D\uDE00");
    for (String name : names) {
      assertThat(write(name, read(name), "x")).isTrue();
    }
    assertThat(write("session/a", read("session/a"), "x")).isTrue();
    assertThat(remove("session/a", read("session/a"))).isTrue();
    List<String> all = new ArrayList<>();
    String after = "";
    for (int pages = 0; pages < 10; pages++) {
      List<String> page = BoundedWait.join(documents.scan("lock/", after, 2));
      all.addAll(page);
      if (page.size() < 2) {
        break;
      }
      after = page.get(1);
    }
    assertThat(all).containsExactlyInAnyOrderElementsOf(names).doesNotHaveDuplicates();
    assertThat(BoundedWait.join(documents.scan("lock/a", "", 10)))
        .containsExactly("lock/a", "lock/a\u00e9");
    assertThat(BoundedWait.join(documents.scan("session/", "", 10))).isEmpty();
  }

  /** While requests are in flight, further ones are gathered into one transaction. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenManyWritesAtATime_thenEachComparesForItself(boolean mayBeGathered) {
    // So few operations in a transaction are refused a batch, whose requests are sent alone then.
    EtcdServer small = mayBeGathered ? null : EtcdServers.start("--max-txn-ops=10");
    try {
      EtcdDocuments many = small == null ? documents : open(small.url());
      VersionedText absent = BoundedWait.join(many.read("lock/0"));
      VersionedText other = new VersionedText("other", "1");
      List<CompletableFuture<Written>> made = new ArrayList<>();
      List<CompletableFuture<Written>> refused = new ArrayList<>();
      List<CompletableFuture<Written>> oneOf = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        String text = "text " + i;
        made.add(many.compareAndSet("lock/" + i, absent, text).toCompletableFuture());
        refused.add(many.compareAndSet("lock/none" + i, other, text).toCompletableFuture());
        oneOf.add(many.compareAndSet("lock/one", absent, text).toCompletableFuture());
      }
      assertThat(made).allSatisfy(write -> assertThat(BoundedWait.join(write).made()).isTrue());
      assertThat(refused)
          .allSatisfy(
              write -> {
                Written written = BoundedWait.join(write);
                assertThat(written.made()).isFalse();
                assertThat(written.stands()).isNotNull();
                assertThat(written.stands().text()).isNull();
              });
      assertThat(oneOf).filteredOn(write -> BoundedWait.join(write).made()).hasSize(1);
      for (int i = 0; i < 200; i += 50) {
        assertThat(BoundedWait.join(many.read("lock/" + i)))
            .isEqualTo(BoundedWait.join(made.get(i)).stands());
      }
    } finally {
      if (small != null) {
        small.close();
      }
    }
  }

  @Test
  void givenWatchedDocuments_whenAnotherProcessWrites_thenEachIsTold_andOwnWritesAreNot() {
    AtomicInteger a = new AtomicInteger();
    AtomicInteger b = new AtomicInteger();
    documents.watch("session/a", a::incrementAndGet);
    Runnable end = documents.watch("session/b", b::incrementAndGet);
    await().atMost(Duration.ofSeconds(20)).until(() -> a.get() > 0 && b.get() > 0);
    EtcdDocuments other = open();
    int before = b.get();
    assertThat(BoundedWait.join(other.compareAndSet("session/b", read("session/b"), "x")).made())
        .isTrue();
    await().atMost(Duration.ofSeconds(20)).until(() -> b.get() > before);
    end.run();
    int told = a.get();
    assertThat(BoundedWait.join(other.compareAndSet("session/a", read("session/a"), "x")).made())
        .isTrue();
    await().atMost(Duration.ofSeconds(20)).until(() -> a.get() > told);
  }
}
