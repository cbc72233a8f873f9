package io.mortise.zookeeper.curator;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.Waits;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A process with our client. */
final class OursInFleet extends Actor {
  private final Fleet fleet;
  private final Kind kind;
  private final LockClient client;
  private @Nullable CompletableFuture<Lease> acquiring;
  private @Nullable Lease lease;

  OursInFleet(String name, Fleet fleet, Kind kind) {
    super(name);
    this.fleet = fleet;
    this.kind = kind;
    this.client = fleet.mortise(kind == Kind.READ_WRITE ? "readwrite" : "mutex", name);
  }

  private DistributedLock lock() {
    return switch (kind) {
      case MUTEX -> client.lock(LOCK);
      case READ_WRITE ->
          part().reads()
              ? client.readWriteLock(LOCK).readLock()
              : client.readWriteLock(LOCK).writeLock();
      case SEMAPHORE -> client.semaphore(LOCK, PERMITS).permits(part().permits());
    };
  }

  @Override
  int mostPermits() {
    return PERMITS;
  }

  @Override
  void begin() {
    acquiring = lock().acquireAsync(Fleet.LONG.multipliedBy(4));
  }

  /** An outage is a right answer while a server comes up again, but the model knows none. */
  private void reach() {
    Waits.until(
        Fleet.LONG,
        this + " reaches the server",
        () -> {
          try {
            client.lock("reached by " + this).tryAcquire().ifPresent(Lease::close);
            return true;
          } catch (StoreUnavailableException e) {
            return false;
          }
        });
  }

  @Override
  boolean tries(Part taken) {
    reach();
    Optional<Lease> got = lock().tryAcquire();
    lease = got.orElse(null);
    return got.isPresent();
  }

  @Override
  boolean holds() {
    CompletableFuture<Lease> granting = acquiring;
    if (granting != null && granting.isDone()) {
      lease = granting.join();
      acquiring = null;
    }
    return lease != null;
  }

  @Override
  void leave() {
    Lease held = lease;
    lease = null;
    if (held != null) {
      held.close();
    }
  }

  @Override
  boolean givesUp() {
    CompletableFuture<Lease> granting = acquiring;
    if (granting == null || !granting.cancel(true)) {
      return false;
    }
    acquiring = null;
    return true;
  }

  /** One of the nodes that bear its name. */
  private String node() throws Exception {
    for (String path : List.of(fleet.path(LOCK), fleet.path(LOCK + "/leases"))) {
      for (String child : fleet.nodes(path)) {
        byte[] data = fleet.looking().getData().forPath(path + "/" + child);
        if (NodeNote.parse(data, Fleet.TTL).client().name().equals(toString())) {
          return path + "/" + child;
        }
      }
    }
    throw new AssertionError(this + " has no node.");
  }

  @Override
  void expires() throws Exception {
    Lease held = lease;
    lease = null;
    if (held != null) {
      fleet.expireOwnerOf(node());
      Waits.until(Fleet.LONG, "the lease was lost", () -> held.state() == Lease.State.LOST);
    }
  }
}
