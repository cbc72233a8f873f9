package io.mortise.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import io.mortise.testkit.contract.document.DocumentsContract;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Documents in a table of the emulator, and writes that come late. */
class DynamoDbDocumentsTest extends DocumentsContract {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final String namespace = Dynalites.namespace();
  private final String url =
      Dynalites.shared().url() + "?timeout=10s&poll=20ms&namespace=" + namespace;

  private static DynamoDbDocuments open(String where, LongSupplier micros, Ticker ticker) {
    DynamoDbTarget target = DynamoDbTarget.parse(StoreUrl.parse(where));
    return new DynamoDbDocuments(
        new DynamoDbRequests(DynamoDbLockStore.client(target), target, "test", 2),
        new AbsentVersions(micros),
        ticker);
  }

  private static DynamoDbDocuments open(String where) {
    return open(
        where, VersionedDocuments.timeOfDay(Ticker.SYSTEM, WallClock.SYSTEM), Ticker.SYSTEM);
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
    return Dynalites.shared().port();
  }

  private static VersionedText read(VersionedDocuments documents, String key) {
    return BoundedWait.join(documents.read(key));
  }

  private static boolean forget(VersionedDocuments documents) {
    return BoundedWait.join(documents.forget("lock/a"));
  }

  @Test
  void givenRemovedDocument_whenItsItemHasStoodForAnHour_thenItIsForgotten_andVersionsRise() {
    ManualTime time = new ManualTime();
    LongSupplier micros = () -> Duration.ofDays(20_000).toNanos() / 1000 + time.nanos() / 1000;
    VersionedDocuments sweeping = closedAtTheEnd(open(url, micros, time));
    LongSupplier dayBehind = () -> micros.getAsLong() - Duration.ofDays(1).toNanos() / 1000;
    VersionedDocuments behind = closedAtTheEnd(open(url, dayBehind, time));
    VersionedText look = read(behind, "lock/a");
    VersionedText first = read(sweeping, "lock/a");
    VersionedText made = BoundedWait.join(sweeping.compareAndSet("lock/a", first, "made")).stands();
    assertThat(forget(sweeping)).as("stands").isFalse();
    VersionedText removed = BoundedWait.join(sweeping.compareAndSet("lock/a", made, null)).stands();
    assertThat(read(sweeping, "lock/a")).isEqualTo(removed);

    assertThat(forget(sweeping)).as("raises the floor").isFalse();
    assertThat(forget(sweeping)).as("begins the hour").isFalse();
    time.advance(AbsentVersions.REMOVED_KEPT);
    assertThat(forget(sweeping)).as("rates of clocks").isFalse();
    time.advance(Duration.ofMinutes(1));
    assertThat(forget(sweeping)).isTrue();
    assertThat(forget(sweeping)).as("nothing is left").isFalse();
    assertThat(BoundedWait.join(sweeping.scan("lock/", "", 10))).isEmpty();

    assertThat(BoundedWait.join(behind.compareAndSet("lock/a", look, "late")).made()).isFalse();
    VersionedText absent = read(behind, "lock/a");
    assertThat(Long.parseLong(absent.version())).isGreaterThan(Long.parseLong(removed.version()));
    assertThat(BoundedWait.join(behind.compareAndSet("lock/a", absent, "anew")).made()).isTrue();
  }

  @Test
  void givenWatchedDocument_whenThisProcessWritesItAgain_thenItIsNotTold() {
    AtomicInteger told = new AtomicInteger();
    VersionedDocuments other = closedAtTheEnd(open());
    documents().watch("session/a", found -> told.incrementAndGet());
    documents().watch("session/a", found -> {});
    assertThat(write("session/a", read("session/a"), "own")).isTrue();
    assertThat(write("session/a", read("session/a"), "own again")).isTrue();
    assertThat(BoundedWait.join(other.compareAndSet("session/a", read("session/a"), "x")).made())
        .isTrue();
    await().atMost(LONG).until(() -> told.get() > 0);
    assertThat(told).hasValue(1);
  }

  @Test
  void givenItemOfAnotherProgram_thenItIsNoDocument_andItIsSaidSo() {
    DynamoDbTarget target = DynamoDbTarget.parse(StoreUrl.parse(url));
    try (DynamoDbClient client = DynamoDbLockStore.client(target)) {
      Map<String, AttributeValue> item =
          Map.of("p", AttributeValue.fromS(namespace + "/lock"), "k", AttributeValue.fromS("odd"));
      client.putItem(request -> request.tableName(target.table()).item(item));
    }
    assertThatThrownBy(() -> read("lock/odd"))
        .hasMessageContaining("StoreUnfitException")
        .hasMessageContaining(
            "Item 'odd' has no version (store=" + DynamoDbTarget.parse(StoreUrl.parse(url)));
  }

  @Test
  void givenDocumentThatIsTooLong_thenItIsSaidWhatToChange() {
    VersionedText absent = read("lock/a");
    assertThatThrownBy(() -> write("lock/a", absent, "x".repeat(410_000)))
        .hasMessageContaining("StoreUnavailableException")
        .hasMessageContaining("400 KB");
    assertThat(write("lock/a", absent, "x".repeat(390_000))).as("the control").isTrue();
  }

  @Test
  void givenClosedDocuments_thenRequestsSaySo() {
    VersionedDocuments closed = open();
    closed.close();
    assertThatThrownBy(() -> BoundedWait.join(closed.read("lock/a")))
        .hasMessageContaining("StoreUnavailableException")
        .hasMessageContaining("closed");
  }
}
