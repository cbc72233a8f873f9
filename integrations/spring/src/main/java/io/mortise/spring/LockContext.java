package io.mortise.spring;

import io.mortise.FencingToken;
import io.mortise.Lease;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The locks of code that runs under {@link Locked} or {@link LockTemplate}: leases, and the fencing
 * token for the guarded resource. Immutable and thread-safe; no method blocks.
 *
 * <p>{@link #current()} is the thread's context, from the call of the method to its return. For an
 * asynchronous method it is current until the stage or publisher is returned; {@link #open()}
 * carries it to other threads, {@link ReactiveLockContext} to reactive steps. With Micrometer's
 * {@code context-propagation} on the class path, that library propagates it as well.
 */
public final class LockContext {
  /** Key of a context in Reactor's context, and in Micrometer's snapshots. */
  static final String KEY = "io.mortise.spring.LockContext";

  private static final ThreadLocal<@Nullable LockContext> INNERMOST = new ThreadLocal<>();

  private final List<Hold> holds;
  private final @Nullable LockContext outer;

  private LockContext(List<Hold> holds, @Nullable LockContext outer) {
    this.holds = holds;
    this.outer = outer;
  }

  /**
   * The context of the innermost call on this thread.
   *
   * @throws IllegalStateException if this thread is in no such call
   */
  public static LockContext current() {
    LockContext innermost = INNERMOST.get();
    if (innermost == null) {
      throw new IllegalStateException(
          "No lock is held here by @Locked or LockTemplate. Call the method through its Spring bean,"
              + " not through 'this', hand the context on by open() if this is another thread, or use"
              + " LockContext.testing(token) in a test.");
    }
    return innermost;
  }

  /** As {@link #current()}; empty if this thread is in no such call. */
  public static Optional<LockContext> find() {
    return Optional.ofNullable(INNERMOST.get());
  }

  /**
   * Makes a lease with this token current on this thread, so that a test can call code that needs
   * it without Spring and without a store. The lease is always valid, is on lock {@code testing},
   * and has no time limit.
   *
   * @param token greater than 0
   * @throws IllegalArgumentException if it is not
   */
  public static Scope testing(long token) {
    return enter(List.of(new Hold(null, false, new TestingLease(token))));
  }

  static Scope enter(List<Hold> holds) {
    return of(holds).open();
  }

  /** A context that is not current yet, nested in this thread's current one. */
  static LockContext of(List<Hold> holds) {
    return new LockContext(holds, INNERMOST.get());
  }

  static @Nullable LockContext innermost() {
    return INNERMOST.get();
  }

  static void innermost(@Nullable LockContext context) {
    if (context == null) {
      INNERMOST.remove();
    } else {
      INNERMOST.set(context);
    }
  }

  /**
   * This context, or the next around it with a lock that is not released; null if there is none.
   */
  @Nullable LockContext held() {
    LockContext at = this;
    while (at != null && at.holds.stream().allMatch(Hold::isEnded)) {
      at = at.outer;
    }
    return at;
  }

  List<Hold> holds() {
    return holds;
  }

  @Nullable LockContext outer() {
    return outer;
  }

  /**
   * The lease of the innermost call.
   *
   * @throws IllegalStateException if that call holds several locks
   */
  public Lease lease() {
    if (holds.size() > 1) {
      throw new IllegalStateException(
          "This call holds several locks: "
              + leases().stream().map(Lease::name).toList()
              + ". Name the one that is meant: lease(name).");
    }
    return holds.get(0).lease();
  }

  /** The lease on that lock in the innermost call that holds it; empty if there is none. */
  public Optional<Lease> lease(String name) {
    for (LockContext at = this; at != null; at = at.outer) {
      for (Hold hold : at.holds) {
        if (hold.lease().name().equals(name)) {
          return Optional.of(hold.lease());
        }
      }
    }
    return Optional.empty();
  }

  /** The leases of the innermost call, in the order of their acquisition. */
  public List<Lease> leases() {
    return holds.stream().map(Hold::lease).toList();
  }

  /**
   * {@link Lease#token()} of {@link #lease()}, to pass to the guarded resource.
   *
   * @throws IllegalStateException if this call holds several locks
   * @throws io.mortise.LeaseLostException if the lease is lost
   * @throws io.mortise.LeaseInDoubtException if it is in doubt, after a restart of its store
   * @throws io.mortise.UnsupportedByStoreException if the store has no fencing tokens
   */
  public long token() {
    return lease().token();
  }

  /**
   * {@link Lease#fencingToken()} of {@link #lease()}.
   *
   * @throws IllegalStateException if this call holds several locks, or its hold is shared or closed
   * @throws io.mortise.LeaseLostException if the lease is lost
   * @throws io.mortise.LeaseInDoubtException if it is in doubt, after a restart of its store
   * @throws io.mortise.UnsupportedByStoreException if the store has no fencing tokens
   */
  public FencingToken fencingToken() {
    return lease().fencingToken();
  }

  /**
   * Returns if all leases of the innermost call are valid: a few clock readings, no I/O.
   *
   * @throws io.mortise.LeaseLostException if one is lost
   * @throws io.mortise.LeaseInDoubtException if one is in doubt, after a restart of its store
   * @throws IllegalStateException if one was closed
   */
  public void ensureValid() {
    for (Hold hold : holds) {
      hold.lease().ensureValid();
    }
  }

  /**
   * Makes this the current context of the calling thread until the scope is closed, on the same
   * thread. That does not prolong the hold of the locks.
   */
  public Scope open() {
    LockContext before = INNERMOST.get();
    INNERMOST.set(this);
    return () -> innermost(before);
  }

  @Override
  public String toString() {
    return "LockContext" + leases();
  }

  /** The time during which a context is current on a thread. */
  public interface Scope extends AutoCloseable {
    /** Restores the previous context. Does not block. */
    @Override
    void close();
  }
}
