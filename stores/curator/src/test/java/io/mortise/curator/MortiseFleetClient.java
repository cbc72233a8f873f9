package io.mortise.curator;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.BoundedWait;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A process with our client. */
final class MortiseFleetClient extends FleetClient {
  private final MixedFleet mixedFleet;
  private final LockedObject lockedObject;
  private final LockClient client;
  private @Nullable CompletableFuture<Lease> acquiring;
  private @Nullable Lease lease;

  MortiseFleetClient(String name, MixedFleet mixedFleet, LockedObject lockedObject) {
    super(name);
    this.mixedFleet = mixedFleet;
    this.lockedObject = lockedObject;
    this.client =
        mixedFleet.mortise(lockedObject == LockedObject.READ_WRITE ? "readwrite" : "mutex", name);
  }

  private DistributedLock lock() {
    return switch (lockedObject) {
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
    acquiring = lock().acquireAsync(MixedFleet.LONG.multipliedBy(4));
  }

  /** An outage is a legal answer while a server starts, but the model has none. */
  private void reach() {
    BoundedWait.until(
        MixedFleet.LONG,
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
  boolean tries(LockShare taken) {
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

  /** One of the nodes named after its attempt. */
  private String node() throws Exception {
    for (String path : List.of(mixedFleet.path(LOCK), mixedFleet.path(LOCK + "/leases"))) {
      for (String child : mixedFleet.nodes(path)) {
        byte[] data = mixedFleet.looking().getData().forPath(path + "/" + child);
        if (NodeDescription.parse(data, MixedFleet.TTL).client().name().equals(toString())) {
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
      mixedFleet.expireOwnerOf(node());
      BoundedWait.until(
          MixedFleet.LONG, "the lease was lost", () -> held.state() == Lease.State.LOST);
    }
  }
}
