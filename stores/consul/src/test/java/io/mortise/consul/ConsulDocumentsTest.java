package io.mortise.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.contract.document.DocumentsContract;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Documents in a real Consul, and writes that come late. */
class ConsulDocumentsTest extends DocumentsContract {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final String url =
      ConsulServers.shared().url() + "?namespace=" + ConsulServers.namespace() + "&timeout=10s";

  private static ConsulDocuments open(String where) {
    ConsulTarget target = ConsulTarget.parse(StoreUrl.parse(where));
    return new ConsulDocuments(new ConsulGateway(target, "test", Ticker.SYSTEM), target.prefix());
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
    return ConsulServers.shared().port();
  }

  @Test
  void givenKeysThatAnotherProgramHasMade_thenTheyAreNotListed() {
    for (String key : List.of("lock/a", "lock/z z")) {
      assertThat(write(key, read(key), key)).isTrue();
    }
    ConsulTarget target = ConsulTarget.parse(StoreUrl.parse(url));
    ConsulGateway gateway = new ConsulGateway(target, "test", Ticker.SYSTEM);
    try {
      for (String name : List.of("=zz", "=4", "=41", "b+c", "b\\\\", "b\\\"c", "é")) {
        String set = "[{\"KV\":{\"Verb\":\"set\",\"Key\":\"%slock/%s\",\"Value\":\"\"}}]";
        BoundedWait.join(gateway.transact(set.formatted(target.prefix(), name)));
      }
    } finally {
      gateway.close();
    }
    assertThat(BoundedWait.join(documents().scan("lock/", "", 100)))
        .containsExactly("lock/a", "lock/z z");
    assertThat(BoundedWait.join(documents().scan("lock/", "lock/a", 1)))
        .containsExactly("lock/z z");
  }

  @Test
  void givenRemovalByAnotherProcess_thenACreationIsRefusedOnlyIfTheyShareAnEntry() {
    VersionedDocuments other = closedAtTheEnd(open());
    String shared = "";
    for (int i = 0; shared.isEmpty(); i++) {
      String key = "lock/" + i;
      shared =
          ConsulDocuments.REMOVALS.keyOf(key).equals(ConsulDocuments.REMOVALS.keyOf("lock/b"))
              ? key
              : "";
    }
    VersionedText before = read("lock/b");
    makeAndRemove(other, "lock/a");
    assertThat(write("lock/b", before, "an entry of its own")).isTrue();
    assertThat(remove("lock/b", read("lock/b"))).isTrue();

    before = read("lock/b");
    makeAndRemove(other, shared);
    assertThat(write("lock/b", before, "by a look before the removal")).isFalse();
    assertThat(write("lock/b", before, "a second try after the refusal")).isFalse();
    assertThat(write("lock/b", read("lock/b"), "by a look after it")).isTrue();
  }

  private static void makeAndRemove(VersionedDocuments other, String key) {
    VersionedText absent = BoundedWait.join(other.read(key));
    Written made = BoundedWait.join(other.compareAndSet(key, absent, "x"));
    assertThat(BoundedWait.join(other.compareAndSet(key, made.stands(), null)).made()).isTrue();
  }

  @Test
  void givenDocumentThatIsTooLong_thenItIsSaidWhatToChange() {
    VersionedText absent = read("lock/a");
    assertThatThrownBy(() -> write("lock/a", absent, "x".repeat(500_000)))
        .hasMessageContaining("txn_max_req_len");
    assertThat(write("lock/a", absent, "x".repeat(390_000))).as("the control").isTrue();
  }

  @Test
  void givenDocumentThatIsGone_whenItIsRemovedAgain_thenItWasNotRemoved() {
    assertThat(write("lock/a", read("lock/a"), "one")).isTrue();
    VersionedText found = read("lock/a");
    assertThat(remove("lock/a", found)).isTrue();
    assertThat(remove("lock/a", found)).isFalse();
  }

  @Test
  void givenWatchThatCannotBegin_whenItsDocumentIsWritten_thenTheWriteIsMade() {
    // No path of HTTP has a blank.
    String key = "no path/a";
    documents().watch(key, found -> {});
    VersionedText absent = new VersionedText(null, read("lock/a").version());
    assertThat(write(key, absent, "x")).isTrue();
  }

  /** By its flags, also if the notification comes before the answer. */
  @Test
  void givenWatchedDocument_whenThisProcessWritesItAgain_thenItIsNotTold() {
    AtomicInteger told = new AtomicInteger();
    VersionedDocuments other = closedAtTheEnd(open());
    documents().watch("session/a", found -> told.incrementAndGet());
    assertThat(write("session/a", read("session/a"), "own")).isTrue();
    assertThat(write("session/a", read("session/a"), "own again")).isTrue();
    assertThat(BoundedWait.join(other.compareAndSet("session/a", read("session/a"), "x")).made())
        .isTrue();
    await().atMost(LONG).until(() -> told.get() > 0);
    assertThat(told).hasValue(1);
  }
}
