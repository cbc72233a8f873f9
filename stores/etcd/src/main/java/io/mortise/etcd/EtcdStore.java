package io.mortise.etcd;

import io.mortise.StoreUnavailableException;
import io.mortise.annotation.Beta;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.document.DocumentStore;
import io.mortise.support.http.TlsMismatch;
import io.mortise.support.internal.document.ReportingStore;
import io.mortise.support.internal.server.ServerIdentity;

/**
 * Opens stores in etcd, 3.4 or later: each lock is a key that is replaced by comparing its
 * revision. No lease of etcd takes part: a lease that is being renewed may be revoked when a
 * stopped leader goes on.
 *
 * <p>Limits of an etcd lock: a holder that is stopped for longer than its TTL has lost the lock
 * before it wakes up. Its fencing token, from the revision of its grant, is then smaller than that
 * of the next holder.
 *
 * <p>A holder that has died is found out by watching: {@code tryAcquire} is busy until this client
 * has watched its session for a TTL, which begins with the first try.
 */
@Beta
public final class EtcdStore {
  private EtcdStore() {}

  /**
   * Connects to {@code etcd://[user:password@]host[:port][,host[:port]…]}, members of one cluster.
   * Parameters: {@code namespace}, {@code timeout}, {@code tls}, and with it {@code ca}, a file of
   * trusted certificates in PEM form. Blocks, for the timeout of each member where nobody answers.
   *
   * @throws IllegalArgumentException if the URL has an unknown or wrong parameter
   * @throws io.mortise.StoreUnavailableException if no member can be reached, or none has a leader
   * @throws io.mortise.StoreUnfitException if one can, but must not be used as it is
   */
  public static LockStore open(String url) {
    return open(StoreUrl.parse(url));
  }

  static LockStore open(StoreUrl url) {
    EtcdTarget target = EtcdTarget.parse(url);
    ServerIdentity cluster = EtcdGateway.cluster(target);
    EtcdGateway gateway = new EtcdGateway(target, "requests", Ticker.SYSTEM, cluster);
    EtcdDocuments documents = new EtcdDocuments(gateway, target.prefix(), Ticker.SYSTEM);
    EtcdDocuments renewals =
        new EtcdDocuments(
            new EtcdGateway(target, "renewals", Ticker.SYSTEM, cluster),
            target.prefix(),
            Ticker.SYSTEM);
    try {
      return ReportingStore.checked(
          DocumentStore.clockless(
              DocumentStore.clocklessProfile(target.toString(), gateway.timeout()),
              documents,
              renewals,
              Ticker.SYSTEM,
              WallClock.SYSTEM),
          documents::checkAccess,
          () -> new EtcdSettingsReport(gateway).make());
    } catch (StoreUnavailableException e) {
      throw TlsMismatch.explained(target.http(), e);
    }
  }
}
