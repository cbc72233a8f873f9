package io.mortise.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.spi.StoreUrl;
import io.mortise.spi.document.VersionedDocuments.VersionedText;
import io.mortise.spi.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents in a real bucket, and what of them is written late. */
class NatsDocumentsTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final String url =
      NatsServers.shared().url() + "?timeout=10s&namespace=" + NatsServers.namespace();
  private final List<NatsDocuments> opened = new ArrayList<>();
  private final NatsDocuments documents = open(url, NatsDocuments.MARKERS_KEPT);

  private NatsDocuments open(String where, Duration markersKept) {
    NatsDocuments made =
        new NatsDocuments(
            bucket(where),
            () -> TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()),
            markersKept);
    opened.add(made);
    return made;
  }

  private static NatsBucket bucket(String where) {
    NatsTarget target = NatsTarget.parse(StoreUrl.parse(where));
    return new NatsBucket(NatsConnector.connect(target), target, true);
  }

  @AfterEach
  void close() {
    opened.forEach(NatsDocuments::close);
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
  void givenNoBucket_whenDocumentsAreLookedAt_thenNoneIsMade_andTheFirstWriteMakesIt() {
    assertThat(read("lock/a").text()).isNull();
    assertThat(BoundedWait.join(documents.scan("lock/", "", 10))).isEmpty();
    try (NatsBucket bucket = bucket(url)) {
      assertThat(BoundedWait.join(bucket.info("")).getApiErrorCode())
          .isEqualTo(NatsBucket.NO_STREAM);
      VersionedText before = read("lock/a");
      assertThat(write("lock/a", before, "made")).isTrue();
      assertThat(write("lock/b", before, "by a look before the bucket was made")).isTrue();
      assertThat(bucket.checked(BoundedWait.join(bucket.info(""))).hasError()).isFalse();
    }
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

  @Test
  void givenMarkerOfARemovedDocument_whenItIsOld_thenALookForgetsIt_andVersionsRiseAllTheSame() {
    assertThat(write("lock/a", read("lock/a"), "made")).isTrue();
    assertThat(remove("lock/a", read("lock/a"))).isTrue();
    VersionedText marker = read("lock/a");
    assertThat(read("lock/a")).as("young").isEqualTo(marker);
    NatsDocuments forgetful = open(url, Duration.ZERO);
    await().atMost(LONG).until(() -> !BoundedWait.join(forgetful.read("lock/a")).equals(marker));
    VersionedText forgotten = read("lock/a");
    assertThat(Long.parseLong(forgotten.version()))
        .isGreaterThanOrEqualTo(Long.parseLong(marker.version()));
    assertThat(BoundedWait.join(documents.scan("lock/", "", 10))).isEmpty();
    assertThat(write("lock/a", marker, "by the marker")).isFalse();
    assertThat(write("lock/a", forgotten, "anew")).isTrue();
    assertThat(Long.parseLong(read("lock/a").version()))
        .isGreaterThan(Long.parseLong(marker.version()));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenWriteThatArrivesLate_thenItIsMadeOnlyIfNobodyWroteMeanwhile(boolean meanwhile) {
    assertThat(write("lock/a", read("lock/a"), "first")).isTrue();
    VersionedText found = read("lock/a");
    int port = NatsServers.shared().port();
    try (FaultInjectionProxy way = FaultInjectionProxy.to(port)) {
      NatsDocuments far =
          open(
              url.replace(":" + port, ":" + way.port()).replace("timeout=10s", "timeout=1m"),
              NatsDocuments.MARKERS_KEPT);
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
    List<String> names = List.of("lock/*", "lock/a", "lock/a\u00e9", "lock/b", "lock/\uD83D\uDE00");
    for (String name : names) {
      assertThat(write(name, read(name), "x")).isTrue();
    }
    assertThat(write("session/a", read("session/a"), "x")).isTrue();
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
    assertThat(BoundedWait.join(documents.scan("session/", "", 10))).containsExactly("session/a");
  }

  @Test
  void givenWatchedDocuments_whenAnotherProcessWrites_thenEachIsTold_andOwnWritesAreNot() {
    NatsDocuments other = open(url, NatsDocuments.MARKERS_KEPT);
    AtomicInteger a = new AtomicInteger();
    AtomicInteger b = new AtomicInteger();
    AtomicInteger ended = new AtomicInteger();
    assertThat(write("session/a", read("session/a"), "x")).isTrue();
    documents.watch("session/a", a::incrementAndGet);
    documents.watch("session/b", b::incrementAndGet);
    documents.watch("session/b", ended::incrementAndGet).run();
    assertThat(write("session/a", read("session/a"), "own")).isTrue();
    assertThat(BoundedWait.join(other.compareAndSet("session/b", read("session/b"), "x")).made())
        .isTrue();
    await().atMost(LONG).until(() -> b.get() == 1);
    assertThat(a).as("own, and published before").hasValue(0);
    assertThat(BoundedWait.join(other.compareAndSet("session/a", read("session/a"), "x")).made())
        .isTrue();
    await().atMost(LONG).until(() -> a.get() == 1);
    assertThat(ended).hasValue(0);
  }
}
