package io.mortise.consul;

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
 * Opens stores in Consul: each lock is an entry of the key-value store that is replaced by
 * comparing its index. No session of Consul takes part: those live for ten seconds at least, and
 * for up to twice their TTL.
 *
 * <p>Limits of a Consul lock: a holder that is stopped for longer than its TTL has lost the lock
 * before it wakes up. Its fencing token, from the index of its grant, is then smaller than that of
 * the next holder.
 *
 * <p>A holder that has died is found out by watching: {@code tryAcquire} is busy until this client
 * has watched its session for a TTL, which begins with the first try.
 */
@Beta
public final class ConsulStore {
  private ConsulStore() {}

  /**
   * Connects to {@code consul://[token@]host[:port][,host[:port]…]}, agents of one datacenter.
   * Parameters: {@code namespace}, {@code timeout}, {@code tls}, and with it {@code ca}, a file of
   * trusted certificates in PEM form. Blocks, for the timeout of each agent where nobody answers.
   *
   * @throws IllegalArgumentException if the URL has an unknown or wrong parameter
   * @throws io.mortise.StoreUnavailableException if no agent can be reached, or there is no leader
   * @throws io.mortise.StoreUnfitException if one can, but must not be used as it is
   */
  public static LockStore open(String url) {
    return open(StoreUrl.parse(url));
  }

  static LockStore open(StoreUrl url) {
    ConsulTarget target = ConsulTarget.parse(url);
    ServerIdentity cluster = ConsulGateway.cluster(target);
    ConsulGateway gateway = new ConsulGateway(target, "requests", Ticker.SYSTEM, cluster);
    ConsulDocuments documents = new ConsulDocuments(gateway, target.prefix());
    ConsulDocuments renewals =
        new ConsulDocuments(
            new ConsulGateway(target, "renewals", Ticker.SYSTEM, cluster), target.prefix());
    try {
      return ReportingStore.checked(
          DocumentStore.clockless(
              DocumentStore.clocklessProfile(target.toString(), target.http().timeout()),
              documents,
              renewals,
              Ticker.SYSTEM,
              WallClock.SYSTEM),
          documents::checkAccess,
          () -> new ConsulSettingsReport(gateway).make());
    } catch (StoreUnavailableException e) {
      throw TlsMismatch.explained(target.http(), e);
    }
  }
}
