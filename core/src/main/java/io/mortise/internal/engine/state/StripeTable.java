package io.mortise.internal.engine.state;

import io.mortise.LockName;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** The stripes of an engine, over which lock names are spread. Thread-safe. */
public final class StripeTable {
  /** So many that two busy names seldom share one, so few that they cost nothing. */
  private static final int MOST = 256;

  private static final int FEWEST = 16;

  private final Stripe[] stripes;

  /** What is left of a spread name when it is shifted by that is its stripe. */
  private final int shift;

  /**
   * The stripes of one of so many parts of a store, which share their names and so need fewer each.
   *
   * @param effects performs what transitions of their claims decide
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

  /** The stripe whose idle claim was used longest ago; null if there is none. Takes no lock. */
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

  /** Does this with each stripe, under its lock. */
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

  /** Whether this is true of a stripe, under its lock. */
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

  /** The sum of what this returns for each stripe, under its lock. */
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
