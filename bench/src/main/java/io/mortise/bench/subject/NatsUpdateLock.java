package io.mortise.bench.subject;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.bench.subject.Subjects.StoreKind;
import io.nats.client.Connection;
import io.nats.client.KeyValue;
import io.nats.client.Nats;
import io.nats.client.api.KeyValueConfiguration;

/**
 * Two updates of a key of NATS, written by hand: each replaces the value if the key has the
 * revision that the one before gave it. The limit for an uncontended pair; useless where two want a
 * lock.
 */
final class NatsUpdateLock implements Subject {
  private static final byte[] FREE = "free".getBytes(UTF_8);
  private static final byte[] HELD = "held".getBytes(UTF_8);

  private final Connection connection;
  private final KeyValue bucket;

  NatsUpdateLock(StoreUrls storeUrls) throws Exception {
    connection = Nats.connect(storeUrls.url(StoreKind.NATS));
    connection
        .keyValueManagement()
        .create(KeyValueConfiguration.builder().name("bench-raw").build());
    bucket = connection.keyValue("bench-raw");
  }

  @Override
  public LockHandle lockHandle(String lock) throws Exception {
    long first = bucket.put(lock, FREE);
    return new LockHandle() {
      private long revision = first;

      @Override
      public boolean take(long waitMillis) throws Exception {
        revision = bucket.update(lock, HELD, revision);
        return true;
      }

      @Override
      public void release() throws Exception {
        revision = bucket.update(lock, FREE, revision);
      }
    };
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
