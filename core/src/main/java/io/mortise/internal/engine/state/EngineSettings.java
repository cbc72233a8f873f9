package io.mortise.internal.engine.state;

import io.mortise.HoldTerms;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.runtime.StoreCall;
import io.mortise.internal.session.StoreOutage;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The fixed properties of an engine's store and environment. */
public final class EngineSettings {
  /** The longest time between two retries of a waiter in a store without a queue. */
  public static final long MOST_POLL_NANOS = 500_000_000;

  private final LockStore store;
  private final EngineEnv env;
  private final boolean hasTokens;
  private final boolean canQueue;
  private final boolean canCallBack;
  private final boolean isCalled;
  private final boolean isToldWhileHolding;
  private final boolean takesFloor;
  private final boolean storeEndsHolds;
  private final long tryNanos;

  public EngineSettings(LockStore store, EngineEnv env) {
    this.store = store;
    this.env = env;
    this.hasTokens = can(Capability.TOKEN);
    this.canQueue = can(Capability.QUEUE);
    this.canCallBack = canQueue && can(Capability.CALL_BACK);
    this.isCalled = canQueue && can(Capability.PUSH);
    this.isToldWhileHolding = !canQueue && can(Capability.SESSION);
    this.takesFloor = can(Capability.TOKEN_FLOOR);
    this.storeEndsHolds = can(Capability.AT_MOST);
    this.tryNanos = StoreCall.limit(store).toNanos();
  }

  private boolean can(Capability capability) {
    return store.profile().can(capability);
  }

  public EngineEnv env() {
    return env;
  }

  public EngineRules rules() {
    return env.rules();
  }

  /** The time of the engine's ticker, in nanoseconds. */
  public long now() {
    return env.now();
  }

  /** Whether a grant of the store has a token. */
  public boolean hasTokens() {
    return hasTokens;
  }

  public boolean canQueue() {
    return canQueue;
  }

  /** Whether an idle hold is called back from its process. */
  public boolean canCallBack() {
    return canCallBack;
  }

  /** Whether a waiter in the store's queue is notified of its grant. If not, it polls often. */
  public boolean isCalled() {
    return isCalled;
  }

  /** Whether a holder in a store without a queue is notified of waiters during its hold. */
  public boolean isToldWhileHolding() {
    return isToldWhileHolding;
  }

  /** Whether an acquire may demand tokens above those already given out. */
  public boolean takesFloor() {
    return takesFloor;
  }

  /**
   * The terms of a hold that the store keeps. If it keeps no at-most times, only the engine ends
   * the hold.
   */
  public HoldTerms sent(HoldTerms terms) {
    return storeEndsHolds || terms.atMost() == null
        ? terms
        : new HoldTerms(null, terms.atLeast(), terms.label());
  }

  /**
   * The rest of a hold's at-most time, from the sending of the answered request. A store without
   * such times leaves the one that was asked for to the engine. Null for none.
   */
  public static @Nullable Duration atMostLeft(Reply.Granted granted, @Nullable Duration asked) {
    Duration left = granted.atMostLeft();
    return left == null ? asked : left;
  }

  /** The time limit of a try: the store's timeout. */
  public long tryNanos() {
    return tryNanos;
  }

  /** How long after it was sent a request may still be executed. */
  public long inFlightNanos() {
    return store.profile().maxInFlight().toNanos();
  }

  /** The reliable part of a time that the store keeps. */
  public long minusSafetyMargin(Duration time) {
    long nanos = time.toNanos();
    return nanos - rules().safetyMargin(nanos);
  }

  /** The store's name in messages. */
  public String storeName() {
    return store.profile().display();
  }

  /** The reason for a missing answer about a lock: the store is unfit, or unreachable. */
  public LockException unavailable(LockName name, Throwable cause) {
    return StoreOutage.unavailable(name, storeName(), cause);
  }

  /**
   * The failure for a missing answer. The span is {@code within} for a limit, and {@code for} for
   * the length of a silence.
   */
  public static TimeoutException noAnswer(String span, long nanos) {
    String time = DurationText.format(Duration.ofNanos(nanos));
    return new TimeoutException("no answer " + span + " " + time + ".");
  }
}
