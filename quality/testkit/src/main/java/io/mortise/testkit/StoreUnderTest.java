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
 * What the contract suites need of a store. Each test method gets an instance of its own, opens the
 * store, and closes the instance at its end.
 */
public interface StoreUnderTest extends AutoCloseable {
  /** Opens the store on a namespace that nobody has used. Called once. */
  LockStore open();

  /**
   * What the store can do: a literal in the store's own test, so that a capability does not
   * disappear unnoticed.
   */
  Set<Capability> capabilities();

  /**
   * A fresh store that answers as this one has to, for {@link DifferentialContract}: the lock table
   * in memory. A store that keeps no sessions ({@link Capability#SESSION}) may forget where the
   * lock table remembers, and brings a reference of its own.
   */
  default LockStore reference() {
    return new MemStore(
        capabilities(), Ticker.SYSTEM, System.currentTimeMillis() * 1000, TableRules.ALL);
  }

  /**
   * The session TTL where a test waits until a session really has ended: as short as the store and
   * a slow machine allow.
   */
  default Duration shortTtl() {
    return Duration.ofMillis(500);
  }

  /**
   * Whether the store takes the name. Some layouts that are shared with other clients cannot have
   * every name; the others have to be refused.
   */
  default boolean takes(LockName name) {
    return true;
  }

  /**
   * Whether a grant has always as many tokens as the reference gives. A store may give fewer: one
   * of several members gives those that they have in common; and none if that takes them a second
   * round trip and the attempt's end was sent before.
   */
  default boolean givesAllTokens() {
    return true;
  }

  /**
   * Whether {@link LockStore#inspect} lists locks; a store that cannot shows one by its name, and
   * refuses to show all.
   */
  default boolean listsLocks() {
    return true;
  }

  /** Whether {@link LockStore#sessions} lists sessions; a store that cannot refuses. */
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

  /**
   * What is wrong with what the store has written, whatever it answers; asked after each command of
   * a differential run.
   */
  default List<String> faults() {
    return List.of();
  }

  /**
   * Opens the same namespace once more, as another process does. Tests close that store without
   * closing its sessions, which looks to others as if its process was killed. Stores with {@link
   * Capability#SKIPS_DISCONNECTED} must override it.
   */
  default LockStore another() {
    throw new UnsupportedOperationException("This store cannot be opened a second time.");
  }

  /**
   * Waits until the server has noticed that the process of a session has a connection by which it
   * hears of its grants, or that it has none any more. Blocks; fails if that takes too long. A
   * store that needs no time for that does nothing.
   */
  default void awaitConnection(SessionId session, boolean there) {}

  /**
   * Ends the server that keeps the locks and starts it again on what it has written down. The store
   * given is closed, or still works.
   *
   * @return a store on the same namespace; empty if this store cannot be restarted, or keeps
   *     nothing over a restart by its nature
   */
  default Optional<LockStore> restart(LockStore store) {
    return Optional.empty();
  }

  /**
   * Has the server that keeps the locks take no writes, as a standby or a demoted primary does.
   *
   * @return has it take writes again; empty if this server cannot be switched
   */
  default Optional<Runnable> forbidWrites() {
    return Optional.empty();
  }

  /** Removes what the test left, after the store was closed. */
  @Override
  default void close() {}
}
