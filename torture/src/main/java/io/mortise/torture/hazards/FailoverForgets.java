package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.server.RedisPair;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous failover: the replica that is promoted has not seen the lock. Both servers stand
 * behind one address, as with a floating address or a name that is moved.
 */
final class FailoverForgets implements Hazard.Story {
  private static final Duration TTL = Duration.ofSeconds(3);
  private static final Duration LONG_TTL = Duration.ofSeconds(30);
  private static final String LOCK = "mortise-hazard/invoice";

  @Override
  public void play(Stage stage) throws Exception {
    naive(stage);
    told(stage);
    lostGrant(stage);
  }

  private static void fail(Stage stage, RedisPair pair) {
    pair.failOver();
    stage.say("servers", "the primary is killed, the replica promoted; the address leads to it");
  }

  private static void naive(Stage stage) {
    stage.chapter("The naive lock: SET invoice A NX PX 30000, with INCR as its token");
    RedisPair pair = stage.redisPair();
    RedisConnection a = stage.connect(pair.port());
    pair.lag();
    stage.expect(a.lock(LOCK, "A", 30_000), "A gets the naive lock");
    Object first = a.call("INCR", "token");
    stage.say("A", "has the lock, token " + first + "; the replica lags and does not know");
    fail(stage, pair);
    RedisConnection b = stage.connect(pair.port());
    stage.expect(b.lock(LOCK, "B", 30_000), "B gets the naive lock while A holds it");
    Object second = b.call("INCR", "token");
    stage.say("B", "gets the lock too, token " + second);
    stage.expect(first != null && first.equals(second), "both tokens are the same");
    stage.say("invoice", "takes the writes of both: nothing tells them apart");
    stage.conclude("broke, as told");
  }

  private static void told(Stage stage) throws Exception {
    stage.chapter("Mortise, TTL 3 s: a failover that lost a renewal, too");
    RedisPair pair = stage.redisPair();
    LockClient a = stage.client(pair.url(), "A", TTL);
    LockClient b = stage.client(pair.url(), "B", TTL);
    a.lock("mortise-hazard/warm-up").acquire().close();
    pair.lag();
    stage.pass(TTL.dividedBy(2));
    Lease lease = a.lock(LOCK).acquire();
    AtomicReference<@Nullable String> loss = new AtomicReference<>();
    lease.onLost(lost -> loss.set(lost.getMessage()));
    long first = lease.token();
    Account invoice = new Account(0);
    stage.expect(invoice.write(1, first), "the invoice takes the write of A");
    stage.say("A", "has the lock, token " + first + "; the replica lags and does not know");
    fail(stage, pair);
    Lease next = granted(stage, b);
    long second = next.token();
    stage.say("B", "gets the lock too, token " + second);
    stage.expect(second > first, "the token rises though the counter was lost");
    stage.await("A is told", () -> loss.get() != null);
    stage.say("A", "is told: " + loss.get());
    stage.expect(invoice.write(2, second), "the invoice takes the write of B");
    stage.expect(!invoice.write(3, first), "the invoice refuses the write of A");
    stage.say("invoice", "takes the write of B, and would refuse one of A");
    next.close();
    stage.conclude("detected, as told: the holder was told, and fenced");
  }

  private static void lostGrant(Stage stage) throws Exception {
    stage.chapter("Mortise, TTL 30 s: a failover that lost this grant and nothing else");
    RedisPair pair = stage.redisPair();
    LockClient a = stage.client(pair.url(), "A", LONG_TTL);
    LockClient b = stage.client(pair.url(), "B", LONG_TTL);
    a.lock("mortise-hazard/warm-up").acquire().close();
    stage.pass(Duration.ofMillis(300));
    pair.lag();
    Lease lease = a.lock(LOCK).acquire();
    AtomicReference<@Nullable String> loss = new AtomicReference<>();
    lease.onLost(lost -> loss.set(lost.getMessage()));
    long first = lease.token();
    stage.say("A", "has the lock, token " + first + "; the replica lags by this grant only");
    fail(stage, pair);
    Lease next = granted(stage, b);
    long second = next.token();
    stage.say("B", "gets the lock too, token " + second);
    stage.expect(second > first, "the token rises though the counter was lost");
    Account invoice = new Account(0);
    stage.expect(invoice.write(2, second), "the invoice takes the write of B");
    stage.expect(!invoice.write(3, first), "the invoice refuses the write of A");
    stage.say("invoice", "takes the write of B, and refuses that of A");
    stage.await("A is told", () -> loss.get() != null);
    stage.say(
        "A",
        "asks the new server about each of its leases, though its session is known there: this one"
            + " is lost");
    next.close();
    stage.conclude("detected, as told: until A has asked, only the token tells");
  }

  private static Lease granted(Stage stage, LockClient client) {
    AtomicReference<@Nullable Lease> granted = new AtomicReference<>();
    stage.await(
        "B gets the lock",
        () -> {
          try {
            Optional<Lease> lease = client.lock(LOCK).tryAcquire();
            lease.ifPresent(granted::set);
            return lease.isPresent();
          } catch (StoreUnavailableException e) {
            // The connection to the new primary is not there yet.
            return false;
          }
        });
    Lease lease = granted.get();
    if (lease == null) {
      throw new NotAsToldException("B gets the lock");
    }
    return lease;
  }
}
