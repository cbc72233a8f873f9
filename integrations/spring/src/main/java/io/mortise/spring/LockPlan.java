package io.mortise.spring;

import io.mortise.DistributedLock;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How to run a task under locks: everything but the locks' names.
 *
 * @param shared for one name only, as are options
 * @param waitLimit null to wait without limit
 * @param skips whether a task whose locks are busy is skipped instead of failing
 * @param interrupts whether the task is interrupted if a lock is lost
 * @param untilCommit whether locks are held until the end of a transaction that is active at entry
 */
record LockPlan(
    LockClient client,
    boolean shared,
    @Nullable Duration waitLimit,
    boolean skips,
    LockOptions options,
    boolean interrupts,
    boolean untilCommit) {
  /** How long to wait for a lock by default. */
  static final Duration DEFAULT_WAIT = Duration.ofSeconds(30);

  LockPlan(LockClient client) {
    this(client, false, DEFAULT_WAIT, false, LockOptions.DEFAULTS, true, true);
  }

  DistributedLock lock(String name) {
    DistributedLock lock = shared ? client.readWriteLock(name).readLock() : client.lock(name);
    return options.equals(LockOptions.DEFAULTS) ? lock : lock.with(options);
  }

  LockPlan withShared(boolean value) {
    return new LockPlan(client, value, waitLimit, skips, options, interrupts, untilCommit);
  }

  LockPlan withWaitLimit(@Nullable Duration value) {
    return new LockPlan(client, shared, value, skips, options, interrupts, untilCommit);
  }

  LockPlan withSkips(boolean value) {
    return new LockPlan(client, shared, waitLimit, value, options, interrupts, untilCommit);
  }

  LockPlan withOptions(LockOptions value) {
    return new LockPlan(client, shared, waitLimit, skips, value, interrupts, untilCommit);
  }

  LockPlan withInterrupts(boolean value) {
    return new LockPlan(client, shared, waitLimit, skips, options, value, untilCommit);
  }

  LockPlan withUntilCommit(boolean value) {
    return new LockPlan(client, shared, waitLimit, skips, options, interrupts, value);
  }
}
