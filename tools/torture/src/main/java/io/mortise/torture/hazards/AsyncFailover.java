package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testserver.RedisReplicaPair;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous failover: the promoted replica has not seen the lock. Both servers are behind one
 * address, like a floating IP address or DNS name.
 */
final class AsyncFailover implements Hazard.HazardScenario {
  private static final Duration TTL = Duration.ofSeconds(3);
  private static final Duration LONG_TTL = Duration.ofSeconds(30);
  private static final String LOCK = "mortise-hazard/invoice";

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    naive(hazardContext);
    told(hazardContext);
    lostGrant(hazardContext);
  }

  private static void fail(HazardContext hazardContext, RedisReplicaPair pair) {
    pair.failOver();
    hazardContext.say(
        "servers", "the primary is killed, the replica promoted; the address leads to it");
  }

  private static void naive(HazardContext hazardContext) {
    hazardContext.chapter("The naive lock: SET invoice A NX PX 30000, with INCR as its token");
    RedisReplicaPair pair = hazardContext.redisPair();
    RedisConnection a = hazardContext.connect(pair.port());
    pair.lag();
    hazardContext.expect(a.lock(LOCK, "A", 30_000), "A gets the naive lock");
    Object first = a.call("INCR", "token");
    hazardContext.say("A", "has the lock, token " + first + "; the replica lags and does not know");
    fail(hazardContext, pair);
    RedisConnection b = hazardContext.connect(pair.port());
    hazardContext.expect(b.lock(LOCK, "B", 30_000), "B gets the naive lock while A holds it");
    Object second = b.call("INCR", "token");
    hazardContext.say("B", "gets the lock too, token " + second);
    hazardContext.expect(first != null && first.equals(second), "both tokens are the same");
    hazardContext.say("invoice", "takes the writes of both: nothing tells them apart");
    hazardContext.conclude("broke, as told");
  }

  private static void told(HazardContext hazardContext) throws Exception {
    hazardContext.chapter("Mortise, TTL 3 s: a failover that lost a renewal, too");
    RedisReplicaPair pair = hazardContext.redisPair();
    LockClient a = hazardContext.client(pair.url(), "A", TTL);
    LockClient b = hazardContext.client(pair.url(), "B", TTL);
    a.lock("mortise-hazard/warm-up").acquire().close();
    pair.lag();
    hazardContext.pass(TTL.dividedBy(2));
    Lease lease = a.lock(LOCK).acquire();
    AtomicReference<@Nullable String> loss = new AtomicReference<>();
    lease.onLost(lost -> loss.set(lost.getMessage()));
    long first = lease.token();
    ProtectedAccount invoice = new ProtectedAccount(0);
    hazardContext.expect(invoice.write(1, first), "the invoice takes the write of A");
    hazardContext.say("A", "has the lock, token " + first + "; the replica lags and does not know");
    fail(hazardContext, pair);
    Lease next = granted(hazardContext, b);
    long second = next.token();
    hazardContext.say("B", "gets the lock too, token " + second);
    hazardContext.expect(second > first, "the token rises though the counter was lost");
    hazardContext.await("A is told", () -> loss.get() != null);
    hazardContext.say("A", "is told: " + loss.get());
    hazardContext.expect(invoice.write(2, second), "the invoice takes the write of B");
    hazardContext.expect(!invoice.write(3, first), "the invoice refuses the write of A");
    hazardContext.say("invoice", "takes the write of B, and would refuse one of A");
    next.close();
    hazardContext.conclude("detected, as told: the holder was told, and fenced");
  }

  private static void lostGrant(HazardContext hazardContext) throws Exception {
    hazardContext.chapter("Mortise, TTL 30 s: a failover that lost this grant and nothing else");
    RedisReplicaPair pair = hazardContext.redisPair();
    LockClient a = hazardContext.client(pair.url(), "A", LONG_TTL);
    LockClient b = hazardContext.client(pair.url(), "B", LONG_TTL);
    a.lock("mortise-hazard/warm-up").acquire().close();
    hazardContext.pass(Duration.ofMillis(300));
    pair.lag();
    Lease lease = a.lock(LOCK).acquire();
    AtomicReference<@Nullable String> loss = new AtomicReference<>();
    lease.onLost(lost -> loss.set(lost.getMessage()));
    long first = lease.token();
    hazardContext.say(
        "A", "has the lock, token " + first + "; the replica lags by this grant only");
    fail(hazardContext, pair);
    Lease next = granted(hazardContext, b);
    long second = next.token();
    hazardContext.say("B", "gets the lock too, token " + second);
    hazardContext.expect(second > first, "the token rises though the counter was lost");
    ProtectedAccount invoice = new ProtectedAccount(0);
    hazardContext.expect(invoice.write(2, second), "the invoice takes the write of B");
    hazardContext.expect(!invoice.write(3, first), "the invoice refuses the write of A");
    hazardContext.say("invoice", "takes the write of B, and refuses that of A");
    hazardContext.await("A is told", () -> loss.get() != null);
    hazardContext.say(
        "A",
        "asks the new server about each of its leases, though its session is known there: this one"
            + " is lost");
    next.close();
    hazardContext.conclude("detected, as told: until A has asked, only the token tells");
  }

  private static Lease granted(HazardContext hazardContext, LockClient client) {
    AtomicReference<@Nullable Lease> granted = new AtomicReference<>();
    hazardContext.await(
        "B gets the lock",
        () -> {
          try {
            Optional<Lease> lease = client.lock(LOCK).tryAcquire();
            lease.ifPresent(granted::set);
            return lease.isPresent();
          } catch (StoreUnavailableException e) {
            // The connection to the new primary is not open yet.
            return false;
          }
        });
    Lease lease = granted.get();
    if (lease == null) {
      throw new UnexpectedOutcomeException("B gets the lock");
    }
    return lease;
  }
}
