package io.mortise.redis;

import io.mortise.LockName;
import io.mortise.spi.LockStore;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.RedisServer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;

/** The subscribers of a channel, by the server's count and by the clients' own view. */
final class InboxSubscriptionProbe {
  private static final LockName NOBODY_HAS = LockName.of("inboxes");

  private final List<LockStore> stores = new CopyOnWriteArrayList<>();

  /** Registers a store that may subscribe. */
  LockStore of(LockStore store) {
    stores.add(store);
    return store;
  }

  /** Waits until a channel has a subscriber, or has none. */
  void await(RedisServer server, String channel, boolean heard) {
    await(server, "CHANNELS", channel, heard);
  }

  /** The same for a channel of a slot. */
  void awaitInShard(RedisServer server, String channel, boolean heard) {
    await(server, "SHARDCHANNELS", channel, heard);
  }

  private void await(RedisServer server, String list, String channel, boolean heard) {
    Awaitility.await()
        .atMost(BoundedWait.ANSWER)
        .until(() -> server.ask("PUBSUB", list, channel).contains(channel) == heard);
    if (heard) {
      // A later answer on the same connection: by then the server's confirmation was read. A closed
      // connection answers too, by a failure.
      stores.forEach(
          store -> BoundedWait.join(store.reopen(NOBODY_HAS).handle((open, closed) -> true)));
    }
  }
}
