package io.mortise.simulation;

import io.mortise.DistributedLock;
import io.mortise.LockOptions;
import io.mortise.internal.client.EngineClient;
import io.mortise.spi.Capability;
import io.mortise.spi.Mode;
import java.time.Duration;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A lock of the simulated world, with its kind and the resource that it protects. */
final class SimLock {
  final String name;
  final Kind kind;
  private final int permits;
  private final long ttl;

  /** How long grants of a mutex are kept idle; null for none. */
  private final @Nullable Duration idle;

  enum Kind {
    MUTEX,
    FAIR,
    READ_WRITE,
    SEMAPHORE,
    TIMED
  }

  /** A way to acquire it. */
  record LockUsage(Mode mode, boolean write, LockOptions options) {}

  SimLock(int number, SplittableRandom random, SimSettings simSettings) {
    Kind drawn = Kind.values()[random.nextInt(Kind.values().length)];
    boolean keepsTimes = simSettings.capabilities.contains(Capability.AT_LEAST);
    this.kind = drawn == Kind.TIMED && !keepsTimes ? Kind.FAIR : drawn;
    this.name = kind.name().toLowerCase(java.util.Locale.ROOT) + "-" + number;
    this.permits = random.nextInt(2, 5);
    this.ttl = simSettings.ttl;
    boolean sticky = permits > 2 && simSettings.capabilities.contains(Capability.CALL_BACK);
    this.idle =
        sticky ? Duration.ofNanos(Math.min(ttl / 2, 10 * VirtualTimeScheduler.SECOND)) : null;
  }

  /** Whether grants may be kept idle. */
  boolean isSticky() {
    return kind == Kind.MUTEX && idle != null;
  }

  LockUsage way(SplittableRandom random) {
    LockOptions options = LockOptions.DEFAULTS;
    return switch (kind) {
      case MUTEX -> new LockUsage(Mode.EXCLUSIVE, true, options.withSticky(idle));
      case FAIR -> new LockUsage(Mode.EXCLUSIVE, true, options.withFair(true));
      case READ_WRITE ->
          random.nextInt(5) < 4
              ? new LockUsage(Mode.SHARED, false, options)
              : new LockUsage(Mode.EXCLUSIVE, true, options);
      case SEMAPHORE ->
          new LockUsage(Mode.permits(random.nextInt(1, permits + 1), permits), false, options);
      case TIMED -> {
        long atMost = random.nextLong(5 * VirtualTimeScheduler.MILLI, ttl);
        yield new LockUsage(
            Mode.EXCLUSIVE,
            true,
            switch (random.nextInt(4)) {
              case 0 -> options;
              case 1 -> options.withAtLeast(Duration.ofNanos(atMost / 4));
              case 2 ->
                  options
                      .withAtMost(Duration.ofNanos(atMost))
                      .withAtLeast(
                          Duration.ofNanos(Math.max(VirtualTimeScheduler.MILLI, atMost / 4)));
              default -> options.withAtMost(Duration.ofNanos(atMost));
            });
      }
    };
  }

  /** The exclusive way to acquire it. */
  LockUsage whole() {
    return kind == Kind.SEMAPHORE
        ? new LockUsage(Mode.permits(permits, permits), false, LockOptions.DEFAULTS)
        : new LockUsage(Mode.EXCLUSIVE, true, LockOptions.DEFAULTS);
  }

  DistributedLock handle(EngineClient client, LockUsage lockUsage) {
    DistributedLock lock =
        switch (kind) {
          case READ_WRITE ->
              lockUsage.write()
                  ? client.readWriteLock(name).writeLock()
                  : client.readWriteLock(name).readLock();
          case SEMAPHORE -> client.semaphore(name, permits).permits(lockUsage.mode().weight());
          default -> client.lock(name);
        };
    return lock.with(lockUsage.options());
  }
}
