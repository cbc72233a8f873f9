package io.mortise.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnavailableException;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.contract.document.DocumentsContract;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.nats.client.api.StreamConfiguration;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Documents in a real bucket, and writes that come late. */
class NatsDocumentsTest extends DocumentsContract {
  private static final Duration LONG = Duration.ofSeconds(60);

  private final String namespace = NatsServers.namespace();
  private final String url = NatsServers.shared().url() + "?timeout=10s&namespace=" + namespace;

  private static NatsDocuments open(String where, Duration markersKept) {
    return new NatsDocuments(bucket(where), markersKept);
  }

  private static NatsBucket bucket(String where) {
    NatsTarget target = NatsTarget.parse(StoreUrl.parse(where));
    return new NatsBucket(NatsConnector.to(target), target, Ticker.SYSTEM);
  }

  @Override
  protected VersionedDocuments open() {
    return open(url, NatsDocuments.MARKERS_KEPT);
  }

  @Override
  protected VersionedDocuments openBehind(int port) {
    return open(url.replace(":" + port(), ":" + port), NatsDocuments.MARKERS_KEPT);
  }

  @Override
  protected int port() {
    return NatsServers.shared().port();
  }

  @Test
  void givenNoBucket_whenDocumentsAreLookedAt_thenNoneIsMade_andTheFirstWriteMakesIt() {
    assertThat(read("lock/a").text()).isNull();
    assertThat(BoundedWait.join(documents().scan("lock/", "", 10))).isEmpty();
    try (NatsBucket bucket = bucket(url)) {
      assertThat(BoundedWait.join(bucket.info("")).getApiErrorCode())
          .isEqualTo(NatsBucket.NO_STREAM);
      VersionedText before = read("lock/a");
      assertThat(write("lock/a", before, "made")).isTrue();
      assertThat(write("lock/b", before, "by a look before the bucket was made")).isTrue();
      assertThat(BoundedWait.join(bucket.info("")).hasError()).isFalse();
    }
  }

  /** Headers count too; the server would close the connection of all requests. */
  @Test
  void givenDocumentThatIsTooLong_thenItIsSaidWhatToChange() {
    VersionedText absent = read("lock/a");
    assertThatThrownBy(() -> write("lock/a", absent, "x".repeat(1_048_570)))
        .hasMessageContaining("StoreUnavailableException")
        .hasMessageContaining("max_payload");
    assertThat(write("lock/a", absent, "x".repeat(1_048_000))).as("the control").isTrue();
  }

  /** As on a server that finds no message, and so takes a first one from each process. */
  @Test
  void givenFirstMessageThatIsNotFound_whenItsWriteIsAnswered_thenTheWriteHasFailed()
      throws Exception {
    assertThat(write("lock/b", read("lock/b"), "makes the bucket")).isTrue();
    VersionedText none = read("lock/a");
    try (FaultInjectionProxy way = FaultInjectionProxy.to(port());
        NatsOperator operator = NatsOperator.of(NatsServers.shared())) {
      VersionedDocuments behind = closedAtTheEnd(openBehind(way.port()));
      way.condition(NetworkCondition.ANSWERS_HELD);
      CompletableFuture<Written> write =
          behind.compareAndSet("lock/a", none, "text").toCompletableFuture();
      BoundedWait.until(LONG, "it was stored", () -> read("lock/a").text() != null);
      operator.streams().purgeStream("KV_mortise-" + namespace);
      way.condition(NetworkCondition.FAIR);
      assertThatThrownBy(() -> BoundedWait.join(write))
          .hasCauseInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("does not find what it has just stored");
    }
  }

  @Test
  void givenMarkerOfARemovedDocument_whenItIsOld_thenASweepForgetsIt_andVersionsRiseAllTheSame() {
    assertThat(write("lock/a", read("lock/a"), "made")).isTrue();
    assertThat(remove("lock/a", read("lock/a"))).isTrue();
    VersionedText marker = read("lock/a");
    assertThat(BoundedWait.join(documents().forget("lock/a"))).as("young").isFalse();
    assertThat(read("lock/a")).isEqualTo(marker);
    NatsDocuments forgetful = closedAtTheEnd(open(url, Duration.ZERO));
    assertThat(BoundedWait.join(forgetful.forget("lock/a"))).isTrue();
    assertThat(BoundedWait.join(forgetful.forget("lock/a"))).as("no more").isFalse();
    VersionedText forgotten = read("lock/a");
    assertThat(Long.parseLong(forgotten.version()))
        .isGreaterThanOrEqualTo(Long.parseLong(marker.version()));
    assertThat(BoundedWait.join(documents().scan("lock/", "", 10))).isEmpty();
    assertThat(write("lock/a", marker, "by the marker")).isFalse();
    assertThat(write("lock/a", forgotten, "anew")).isTrue();
    assertThat(Long.parseLong(read("lock/a").version()))
        .isGreaterThan(Long.parseLong(marker.version()));
  }

  @Test
  void givenBucketThatLetsNobodyPurge_thenASweepForgetsNothing_andSaysSo() throws Exception {
    assertThat(write("lock/a", read("lock/a"), "made")).isTrue();
    assertThat(remove("lock/a", read("lock/a"))).isTrue();
    NatsDocuments forgetful = closedAtTheEnd(open(url, Duration.ZERO));
    String stream = "KV_mortise-" + url.substring(url.indexOf("namespace=") + 10);
    try (NatsOperator operator = NatsOperator.of(NatsServers.shared())) {
      StreamConfiguration is = operator.streams().getStreamInfo(stream).getConfiguration();
      operator
          .streams()
          .updateStream(StreamConfiguration.builder(is).allowRollup(false).denyPurge(true).build());
    }
    assertThat(BoundedWait.join(forgetful.forget("lock/a"))).isFalse();
    try (LockStore store = NatsStore.open(url)) {
      assertThat(BoundedWait.join(store.examine()).findings())
          .extracting(StoreReport.Finding::id)
          .contains("deny_purge");
    }
  }
}
