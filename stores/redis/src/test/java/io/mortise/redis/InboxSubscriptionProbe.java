package io.mortise.redis;

import io.mortise.LockName;
import io.mortise.spi.LockStore;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.RedisServer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;

/** Who listens, as a server knows it, and as those who listen know it. */
final class InboxSubscriptionProbe {
  private static final LockName NOBODY_HAS = LockName.of("inboxes");

  private final List<LockStore> stores = new CopyOnWriteArrayList<>();

  /** Knows a store by which somebody may listen. */
  LockStore of(LockStore store) {
    stores.add(store);
    return store;
  }

  /** Waits until somebody listens to a channel, or nobody does. */
  void await(RedisServer server, String channel, boolean heard) {
    await(server, "CHANNELS", channel, heard);
  }

  /** The same of a channel of a slot. */
  void awaitInShard(RedisServer server, String channel, boolean heard) {
    await(server, "SHARDCHANNELS", channel, heard);
  }

  private void await(RedisServer server, String list, String channel, boolean heard) {
    Awaitility.await()
        .atMost(BoundedWait.ANSWER)
        .until(() -> server.ask("PUBSUB", list, channel).contains(channel) == heard);
    if (heard) {
      // A later answer on the same connection: what the server confirmed has been read then. Those
      // that are closed answer too, that they are.
      stores.forEach(
          store -> BoundedWait.join(store.reopen(NOBODY_HAS).handle((open, closed) -> true)));
    }
  }
}
