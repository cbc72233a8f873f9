package io.mortise.spring;

import io.mortise.FencingToken;
import io.mortise.Lease;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What code that runs under {@link Locked} or {@link LockTemplate} knows about its locks: leases,
 * and the fencing token to show to what they guard. Immutable and thread-safe; nothing here blocks.
 *
 * <p>{@link #current()} is that of the thread, from the call of the method to its return. For an
 * asynchronous method it is there until the stage or publisher is returned; {@link #open()} takes
 * it along to other threads, {@link ReactiveLockContext} to reactive steps. With Micrometer's
 * {@code context-propagation} on the class path it goes along with what that library propagates.
 */
public final class LockContext {
  /** Of a context in Reactor's context, and in Micrometer's snapshots. */
  static final String KEY = "io.mortise.spring.LockContext";

  private static final ThreadLocal<@Nullable LockContext> INNERMOST = new ThreadLocal<>();

  private final List<Hold> holds;
  private final @Nullable LockContext outer;

  private LockContext(List<Hold> holds, @Nullable LockContext outer) {
    this.holds = holds;
    this.outer = outer;
  }

  /**
   * That of the innermost call on this thread.
   *
   * @throws IllegalStateException if this thread is in none
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
   * Makes a lease with this token current on this thread, so that a test can call what asks for it
   * without Spring and without a store. The lease is always valid, is on lock {@code testing}, and
   * has no time limit.
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

  /** One that is not current yet, inside of what is current on this thread. */
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

  /** This one, or the next around it of which not all locks are released; null if there is none. */
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

  /** The lease on that lock of the innermost call that holds it; empty if there is none. */
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

  /** The leases of the innermost call, in the order in which they were taken. */
  public List<Lease> leases() {
    return holds.stream().map(Hold::lease).toList();
  }

  /**
   * {@link Lease#token()} of {@link #lease()}, to show to what the lock guards.
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
   * Makes this the current one on the calling thread until the scope is closed, which is to be on
   * the same thread. The locks are not held for longer by that.
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
    /** Makes current again what was current before. Does not block. */
    @Override
    void close();
  }
}
