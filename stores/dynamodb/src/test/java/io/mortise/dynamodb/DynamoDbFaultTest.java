package io.mortise.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.spi.StoreUrl;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.contract.document.ClocklessFaultContract;
import io.mortise.testserver.DynaliteServer;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Locks on an emulator that dies, stands still, or loses an item. */
@Tag("extended")
class DynamoDbFaultTest extends ClocklessFaultContract<DynaliteServer> {
  private static final Duration LONG = Duration.ofSeconds(60);

  @Override
  protected DynaliteServer start() {
    return Dynalites.start();
  }

  @Override
  protected boolean takesSeveralServers() {
    return false;
  }

  @Test
  void givenHolder_whenItsItemIsDeleted_thenTheNextTokenIsGreater() throws Exception {
    DynamoDbTarget target = DynamoDbTarget.parse(StoreUrl.parse(server().url()));
    try (LockClient holder = client(LONG);
        LockClient other = client(LONG);
        DynamoDbClient operator = DynamoDbLockStore.client(target)) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      Map<String, AttributeValue> key =
          Map.of("p", AttributeValue.fromS(namespace() + "/lock"), "k", AttributeValue.fromS("x"));
      operator.deleteItem(request -> request.tableName(target.table()).key(key));
      // Versions of new items count tenths of a second.
      BoundedWait.pass(Duration.ofMillis(200));
      try (Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(lease.token());
      }
    }
  }
}
