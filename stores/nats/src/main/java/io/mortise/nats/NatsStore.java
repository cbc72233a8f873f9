package io.mortise.nats;

import io.mortise.StoreUnavailableException;
import io.mortise.annotation.Beta;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.document.DocumentStore;
import io.mortise.support.internal.document.ReportingStore;
import io.nats.client.Connection;
import io.nats.client.api.ServerInfo;

/**
 * Opens stores in NATS JetStream, server 2.9 or later: each lock is a key of a key-value bucket,
 * which is replaced by comparing its revision.
 *
 * <p>Limits of a NATS lock: a holder that is stopped for longer than its TTL has lost the lock
 * before it wakes up. Its fencing token, from the revision of its grant, is then smaller than that
 * of the next holder. A server that loses power may forget the acknowledged writes of the last two
 * minutes, locks and tokens too, unless its {@code sync_interval}, from 2.10 on, is {@code always}.
 *
 * <p>A holder that has died is found out by watching: {@code tryAcquire} is busy until this client
 * has watched its session for a TTL, which begins with the first try.
 */
@Beta
public final class NatsStore {
  private NatsStore() {}

  /**
   * Connects to {@code nats://[user:password@|token@]host[:port][,host[:port]…]}. Parameters:
   * {@code namespace}, {@code timeout}, {@code credentials} or {@code nkey}, a file each, {@code
   * tls}, and with it {@code ca}, a file of trusted certificates in PEM form; {@code sync-always},
   * which says that the servers' {@code sync_interval} is {@code always}, for reports. Makes
   * nothing in the server: the first holder or waiter makes the bucket. Blocks, for the timeout of
   * each server where nobody answers.
   *
   * @throws IllegalArgumentException if the URL has an unknown or wrong parameter
   * @throws io.mortise.StoreUnavailableException if no server can be reached, or none answers
   * @throws io.mortise.StoreUnfitException if one can, but must not be used as it is
   */
  public static LockStore open(String url) {
    return open(StoreUrl.parse(url));
  }

  static LockStore open(StoreUrl url) {
    NatsTarget target = NatsTarget.parse(url);
    return open(new NatsBucket(NatsConnector.to(target), target, Ticker.SYSTEM), target);
  }

  /**
   * Uses a connection that the application has. Closing the store leaves it open. A connection that
   * keeps requests while it reconnects may send them late, which does no harm. Blocks, for the
   * timeout at most.
   *
   * @param parameters as behind the question mark of a URL: {@code namespace}, {@code timeout},
   *     {@code sync-always}; may be empty
   * @throws IllegalArgumentException if there is a wrong or unknown parameter
   * @throws io.mortise.StoreUnavailableException if the server does not answer
   * @throws io.mortise.StoreUnfitException if it does, but must not be used as it is
   */
  public static LockStore over(Connection connection, String parameters) {
    if (connection.getStatus() != Connection.Status.CONNECTED) {
      throw new StoreUnavailableException(
          "The connection to NATS is in status " + connection.getStatus() + ". Open it first.");
    }
    ServerInfo server = connection.getServerInfo();
    NatsTarget target =
        NatsTarget.parse("nats:" + server.getHost() + ":" + server.getPort(), parameters);
    return open(new NatsBucket(NatsConnector.of(connection), target, Ticker.SYSTEM), target);
  }

  private static LockStore open(NatsBucket bucket, NatsTarget target) {
    return ReportingStore.checked(
        DocumentStore.clockless(
            DocumentStore.clocklessProfile(target.display(), target.timeout()),
            new NatsDocuments(bucket, NatsDocuments.MARKERS_KEPT),
            new NatsDocuments(bucket, NatsDocuments.MARKERS_KEPT),
            Ticker.SYSTEM,
            WallClock.SYSTEM),
        bucket::check,
        () -> new NatsSettingsReport(bucket, target).make());
  }
}
