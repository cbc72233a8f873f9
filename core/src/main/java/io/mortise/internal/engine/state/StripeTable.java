package io.mortise.internal.engine.state;

import io.mortise.LockName;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** The stripes of an engine, over which lock names are spread. Thread-safe. */
public final class StripeTable {
  /** So many that two busy names seldom share a stripe, so few that they cost nothing. */
  private static final int MOST = 256;

  private static final int FEWEST = 16;

  private final Stripe[] stripes;

  /** A spread name shifted by this is the number of its stripe. */
  private final int shift;

  /**
   * The stripes of one of several parts of a store. The parts share the names, so each needs fewer
   * stripes.
   *
   * @param effects performs the effects of their claims' transitions
   */
  public StripeTable(int parts, ClaimEffect.Performer effects) {
    int count = Math.max(FEWEST, Integer.highestOneBit(MOST / parts));
    this.stripes = new Stripe[count];
    this.shift = Integer.SIZE - Integer.numberOfTrailingZeros(count);
    for (int i = 0; i < count; i++) {
      stripes[i] = new Stripe(effects);
    }
  }

  public Stripe of(LockName name) {
    return stripes[ClaimTable.spread(name) >>> shift];
  }

  /** The stripe with the least recently used idle claim; null if there is none. Takes no lock. */
  public @Nullable Stripe withOldestIdle() {
    Stripe found = null;
    for (Stripe stripe : stripes) {
      if (!stripe.idleClaims().isEmpty()
          && (found == null
              || stripe.idleClaims().oldestSince() - found.idleClaims().oldestSince() < 0)) {
        found = stripe;
      }
    }
    return found;
  }

  /** Calls the action with each stripe, under its lock. */
  public void forEach(Consumer<Stripe> step) {
    for (Stripe stripe : stripes) {
      stripe.lock();
      try {
        step.accept(stripe);
      } finally {
        stripe.unlock();
      }
    }
  }

  /** Whether the predicate holds for a stripe, under its lock. */
  public boolean any(Predicate<Stripe> what) {
    for (Stripe stripe : stripes) {
      stripe.lock();
      try {
        if (what.test(stripe)) {
          return true;
        }
      } finally {
        stripe.unlock();
      }
    }
    return false;
  }

  /** The sum of the function over all stripes, each under its lock. */
  public int sum(ToIntFunction<Stripe> what) {
    int sum = 0;
    for (Stripe stripe : stripes) {
      stripe.lock();
      try {
        sum += what.applyAsInt(stripe);
      } finally {
        stripe.unlock();
      }
    }
    return sum;
  }
}
