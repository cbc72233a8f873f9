package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.DocumentTooLargeException;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.contract.document.DocumentsContract;
import io.mortise.testserver.EtcdServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents in a real etcd, and writes that come late. */
class EtcdDocumentsTest extends DocumentsContract {
  private final String url =
      EtcdServers.shared().url() + "?namespace=" + EtcdServers.namespace() + "&timeout=10s";

  private static EtcdDocuments open(String where) {
    EtcdTarget target = EtcdTarget.parse(StoreUrl.parse(where));
    return new EtcdDocuments(
        new EtcdGateway(target, "test", Ticker.SYSTEM), target.prefix(), Ticker.SYSTEM);
  }

  @Override
  protected VersionedDocuments open() {
    return open(url);
  }

  @Override
  protected VersionedDocuments openBehind(int port) {
    return open(url.replace(":" + port(), ":" + port).replace("timeout=10s", "timeout=1m"));
  }

  @Override
  protected int port() {
    return EtcdServers.shared().port();
  }

  @Test
  void givenKeyThatIsItsKindAlone_thenItIsListed_andARemovedOneIsNot() {
    assertThat(write("lock/", read("lock/"), "x")).isTrue();
    assertThat(write("lock/a", read("lock/a"), "x")).isTrue();
    assertThat(BoundedWait.join(documents().scan("lock/", "", 10)))
        .containsExactly("lock/", "lock/a");
    assertThat(remove("lock/a", read("lock/a"))).isTrue();
    assertThat(BoundedWait.join(documents().scan("lock/", "", 10))).containsExactly("lock/");
  }

  @Test
  void givenRemovalOfAnotherDocument_thenACreationIsRefusedOnlyIfTheyShareAKey() {
    String shared = "";
    for (int i = 0; shared.isEmpty(); i++) {
      boolean same =
          EtcdDocuments.REMOVALS.keyOf("lock/" + i).equals(EtcdDocuments.REMOVALS.keyOf("lock/a"));
      shared = same ? "lock/" + i : "";
    }
    VersionedText absent = read("lock/a");
    makeAndRemove("lock/b");
    assertThat(write("lock/a", absent, "x")).isTrue();
    assertThat(remove("lock/a", read("lock/a"))).isTrue();
    // The control.
    absent = read("lock/a");
    makeAndRemove(shared);
    assertThat(write("lock/a", absent, "x")).isFalse();
  }

  private void makeAndRemove(String key) {
    assertThat(write(key, read(key), "x")).isTrue();
    assertThat(remove(key, read(key))).isTrue();
  }

  /** While requests are in flight, further ones are gathered into one transaction. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenManyWritesAtATime_thenEachComparesForItself(boolean mayBeGathered) {
    // So few operations in a transaction are refused a batch, whose requests are sent alone then.
    EtcdServer small = mayBeGathered ? null : EtcdServers.start("--max-txn-ops=10");
    try {
      VersionedDocuments many = small == null ? documents() : closedAtTheEnd(open(small.url()));
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
  void givenServerThatTakesMoreThanCanBeRead_thenALongerDocumentIsRefused_andTheLongestIsRead() {
    try (EtcdServer large = EtcdServers.start("--max-request-bytes=16777216")) {
      VersionedDocuments documents = closedAtTheEnd(open(large.url()));
      VersionedText absent = BoundedWait.join(documents.read("lock/a"));
      // In Base64 it is as long as an answer may be.
      String tooLong = "x".repeat(3 << 20);
      assertThatThrownBy(() -> BoundedWait.join(documents.compareAndSet("lock/a", absent, tooLong)))
          .hasRootCauseInstanceOf(DocumentTooLargeException.class)
          .hasStackTraceContaining("was not sent");
      assertThat(BoundedWait.join(documents.read("lock/a")).text()).isNull();
      String longest = "x".repeat((3 << 20) - 2_000);
      assertThat(BoundedWait.join(documents.compareAndSet("lock/a", absent, longest)).made())
          .isTrue();
      VersionedText found = BoundedWait.join(documents.read("lock/a"));
      assertThat(found.text()).isEqualTo(longest);
      Written refused = BoundedWait.join(documents.compareAndSet("lock/a", absent, ""));
      assertThat(refused.made()).isFalse();
      assertThat(refused.stands()).isEqualTo(found);
    }
  }
}
