package io.mortise.internal.engine.state;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.internal.queue.BoundedMap;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The idle claims of one stripe, in the order of their last use, and the names whose grants were
 * called back. Guarded by the stripe except {@link #oldestSince()}.
 */
public final class IdleClaims {
  /** The most names remembered. */
  private static final int KEPT = 64;

  private @Nullable StickyClaim oldest;
  private @Nullable StickyClaim newest;
  private volatile long oldestSince;
  private volatile boolean empty = true;

  /** The time until which no grant of a name is kept; null until one was called back. */
  private @Nullable Map<LockName, Long> pauses;

  /** Holds that were not released in time after a call-back. */
  private @Nullable Map<LockName, AttemptId> busy;

  IdleClaims() {}

  /** Whether a claim holds in the store, while no caller of this process holds or waits. */
  public static boolean isIdle(@Nullable Claim claim) {
    return claim instanceof StickyClaim sticky && sticky.isIdle();
  }

  public @Nullable StickyClaim oldest() {
    return oldest;
  }

  boolean isEmpty() {
    return empty;
  }

  /** The time since which the oldest is idle; valid only if there is one. */
  public long oldestSince() {
    return oldestSince;
  }

  public void add(StickyClaim claim, long now) {
    claim.idleSince = now;
    StickyClaim last = newest;
    claim.older = last;
    newest = claim;
    if (last == null) {
      oldest = claim;
      oldestSince = now;
      empty = false;
    } else {
      last.newer = claim;
    }
  }

  public void remove(StickyClaim claim) {
    StickyClaim before = claim.older;
    StickyClaim after = claim.newer;
    if (after == null) {
      newest = before;
    } else {
      after.older = before;
    }
    if (before != null) {
      before.newer = after;
    } else {
      oldest = after;
      if (after == null) {
        empty = true;
      } else {
        oldestSince = after.idleSince();
      }
    }
    claim.older = null;
    claim.newer = null;
    claim.idleSince = StickyClaim.NOT_IDLE;
  }

  /** Keeps no grant of this name until the given time. */
  public void pause(LockName name, long until) {
    if (pauses == null) {
      pauses = new BoundedMap<>(KEPT);
    }
    pauses.put(name, until);
  }

  public boolean isPaused(LockName name, long now) {
    Long until = pauses == null ? null : pauses.get(name);
    if (until != null && until - now <= 0) {
      Objects.requireNonNull(pauses).remove(name);
      return false;
    }
    return until != null;
  }

  /** Remembers a hold that was called back and not released in time. */
  public void rememberBusy(LockName name, AttemptId holder) {
    if (busy == null) {
      busy = new BoundedMap<>(KEPT);
    }
    busy.put(name, holder);
  }

  /** Whether that hold is known to be in use: its attempt ends when its holder is done. */
  public boolean isKnownBusy(LockName name, AttemptId holder) {
    return busy != null && holder.equals(busy.get(name));
  }

  /**
   * A claim whose grant may be kept idle: it holds in the store, while no caller of this process
   * holds or wants the lock. A process may keep many, so the links of the list stand in the claim.
   * Guarded by its stripe.
   */
  public static final class StickyClaim extends Claim {
    private static final long NOT_IDLE = Long.MIN_VALUE;

    /** Its neighbours in the list; only the list writes them. */
    private @Nullable StickyClaim older;

    private @Nullable StickyClaim newer;
    private long keepNanos;
    private long idleSince = NOT_IDLE;
    private int retakes;
    private int refillAt;

    public StickyClaim(LockName name, Mode mode, HoldTerms terms) {
      super(name, mode, terms, true);
    }

    /** The next more recently used idle claim; null if this is the newest. */
    public @Nullable StickyClaim newer() {
      return newer;
    }

    /** How long the grant is kept after the present lease; 0 if it is released. */
    public long keepNanos() {
      return keepNanos;
    }

    public void keepFor(long nanos) {
      keepNanos = nanos;
    }

    /** How often this attempt's grant was taken while it was idle. */
    public int retakes() {
      return retakes;
    }

    public void retaken() {
      retakes++;
    }

    /** Resets the count for a new attempt. */
    public void resetRetakes() {
      retakes = 0;
    }

    /** The number of tokens left at which the block is replaced. */
    public int refillAt() {
      return refillAt;
    }

    public void refillAt(int left) {
      refillAt = left;
    }

    public boolean isIdle() {
      return idleSince != NOT_IDLE;
    }

    public long idleSince() {
      return idleSince;
    }

    public long idleUntil() {
      return idleSince + keepNanos;
    }
  }
}
