package io.mortise.testkit;

import io.mortise.LockName;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionId;
import io.mortise.spi.time.Ticker;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.contract.differential.DifferentialContract;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The adapter between a store and the contract suites. Each test method gets a new instance, opens
 * the store, and closes the instance at its end.
 */
public interface StoreUnderTest extends AutoCloseable {
  /** Opens the store on an unused namespace. Called once. */
  LockStore open();

  /**
   * The store's capabilities, a literal in the store's own test, so that none disappears unnoticed.
   */
  Set<Capability> capabilities();

  /**
   * Returns a fresh reference store for {@link DifferentialContract}: the lock table in memory. A
   * store without sessions ({@link Capability#SESSION}) may forget facts that the lock table
   * remembers, and brings its own reference.
   */
  default LockStore reference() {
    return new MemStore(
        capabilities(), Ticker.SYSTEM, System.currentTimeMillis() * 1000, TableRules.ALL);
  }

  /**
   * The session TTL of tests that wait for the real end of a session: as short as the store and a
   * slow machine allow.
   */
  default Duration shortTtl() {
    return Duration.ofMillis(500);
  }

  /**
   * Whether the store accepts the name. Layouts shared with other clients may not support every
   * name; unsupported ones have to be refused.
   */
  default boolean takes(LockName name) {
    return true;
  }

  /**
   * Whether a grant always has as many tokens as the reference gives. A store of several members
   * may give fewer, those that the members have in common. It may give none if that takes a second
   * round trip, sent after the attempt's end.
   */
  default boolean givesAllTokens() {
    return true;
  }

  /**
   * Whether {@link LockStore#inspect} lists locks; otherwise it shows a lock by its name only, and
   * refuses to list all.
   */
  default boolean listsLocks() {
    return true;
  }

  /** Whether {@link LockStore#sessions} lists sessions; otherwise it refuses. */
  default boolean listsSessions() {
    return capabilities().contains(Capability.SESSION);
  }

  /**
   * Whether {@link #pass} moves time by hand, for the store and for its {@link #reference} alike.
   * Differential runs then let sessions and times end.
   */
  default boolean isTimeByHand() {
    return false;
  }

  /** Lets time pass for the store. Blocks, unless time moves by hand. */
  default void pass(Duration time) {
    BoundedWait.pass(time);
  }

  /** Returns faults in the store's stored data. Called after each command of a differential run. */
  default List<String> faults() {
    return List.of();
  }

  /**
   * Opens the same namespace once more, as another process does. Tests close that store without
   * closing its sessions, which looks like a killed process. Stores with {@link
   * Capability#SKIPS_DISCONNECTED} must override it.
   */
  default LockStore another() {
    throw new UnsupportedOperationException("This store cannot be opened a second time.");
  }

  /**
   * Waits until the server knows whether the process of a session has a connection for
   * notifications. Blocks; fails if that takes too long. Does nothing if the store knows it at
   * once.
   */
  default void awaitConnection(SessionId session, boolean there) {}

  /**
   * Restarts the server of the locks on its persistent data. The store given is closed, or still
   * works.
   *
   * @return a store on the same namespace; empty if this store cannot be restarted, or never
   *     persists its data
   */
  default Optional<LockStore> restart(LockStore store) {
    return Optional.empty();
  }

  /**
   * Makes the server of the locks refuse writes, as a standby or a demoted primary does.
   *
   * @return restores writes; empty if this server cannot be switched
   */
  default Optional<Runnable> forbidWrites() {
    return Optional.empty();
  }

  /** Removes leftovers of the test, after the store was closed. */
  @Override
  default void close() {}
}
