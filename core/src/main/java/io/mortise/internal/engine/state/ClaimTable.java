package io.mortise.internal.engine.state;

import io.mortise.LockName;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one stripe by lock name: a hash table chained through the claims themselves, since
 * a process may hold a million and an entry for each would take half as much as a claim. Guarded by
 * the stripe.
 */
public final class ClaimTable {
  private static final int SMALLEST = 4;
  private static final int LARGEST = 1 << 20;

  private @Nullable Claim[] buckets = new @Nullable Claim[SMALLEST];
  private int size;

  ClaimTable() {}

  /**
   * Spreads a name over all 32 bits. The uppermost 8 choose the stripe, others the bucket here:
   * with the same bits, all names of a stripe would share a few buckets.
   */
  static int spread(LockName name) {
    return name.hashCode() * 0x9E3779B9;
  }

  private static int bucket(LockName name, int buckets) {
    return (spread(name) >>> 4) & (buckets - 1);
  }

  public int size() {
    return size;
  }

  /** The claim of this name that was added last. */
  public @Nullable Claim first(LockName name) {
    return sameName(buckets[bucket(name, buckets.length)], name);
  }

  /** The next claim of the same name. */
  public @Nullable Claim after(Claim claim) {
    return sameName(claim.next(), claim.name());
  }

  private static @Nullable Claim sameName(@Nullable Claim from, LockName name) {
    Claim claim = from;
    while (claim != null && !claim.name().equals(name)) {
      claim = claim.next();
    }
    return claim;
  }

  void add(Claim claim) {
    if (size >= buckets.length && buckets.length < LARGEST) {
      grow();
    }
    size++;
    prepend(buckets, claim);
  }

  private void grow() {
    @Nullable Claim[] old = buckets;
    @Nullable Claim[] larger = new @Nullable Claim[old.length * 2];
    for (Claim chain : old) {
      // Reversed first, so that claims of one name keep their order.
      for (Claim claim = reversed(chain); claim != null; ) {
        Claim next = claim.next();
        prepend(larger, claim);
        claim = next;
      }
    }
    buckets = larger;
  }

  private static @Nullable Claim reversed(@Nullable Claim chain) {
    Claim done = null;
    for (Claim claim = chain; claim != null; ) {
      Claim next = claim.next();
      claim.next(done);
      done = claim;
      claim = next;
    }
    return done;
  }

  private static void prepend(@Nullable Claim[] to, Claim claim) {
    int bucket = bucket(claim.name(), to.length);
    claim.next(to[bucket]);
    to[bucket] = claim;
  }

  /** Removes the claim; does nothing if it is not here. */
  void remove(Claim claim) {
    int bucket = bucket(claim.name(), buckets.length);
    Claim before = null;
    for (Claim here = buckets[bucket]; here != null; before = here, here = here.next()) {
      if (here == claim) {
        if (before == null) {
          buckets[bucket] = claim.next();
        } else {
          before.next(claim.next());
        }
        claim.next(null);
        size--;
        return;
      }
    }
  }

  /** Calls the action with each claim; claims must not be added or removed meanwhile. */
  void forEach(Consumer<Claim> each) {
    for (Claim chain : buckets) {
      for (Claim claim = chain; claim != null; claim = claim.next()) {
        each.accept(claim);
      }
    }
  }
}
