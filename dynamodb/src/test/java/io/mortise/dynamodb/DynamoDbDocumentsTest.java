package io.mortise.dynamodb;

import io.mortise.spi.StoreUrl;
import io.mortise.spi.document.VersionedDocuments;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.testkit.contract.document.DocumentsContract;
import java.util.function.LongSupplier;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Documents in a real table, and what of them is written late. */
class DynamoDbDocumentsTest extends DocumentsContract {
  private final String url =
      Dynalites.shared().url() + "?namespace=" + Dynalites.namespace() + "&timeout=10s";

  private VersionedDocuments open(String where) {
    DynamoDbTarget target = DynamoDbTarget.parse(StoreUrl.parse(where));
    DynamoDbClient client = DynamoDbLockStore.client(target);
    LongSupplier micros = VersionedDocuments.timeOfDay(Ticker.SYSTEM, WallClock.SYSTEM);
    return new DynamoDbDocuments(
        new DynamoDbRequests(client, target, "test", 2),
        new AbsentVersions(micros),
        micros,
        Ticker.SYSTEM);
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
}
