package io.mortise.redis.transport;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Has a transport ask again, after a while, for the subscriptions that its server does not have.
 * What is refused together is asked for together: at most one round for each delay is due.
 * Thread-safe.
 */
public final class Resubscriber {
  /** After a refusal that passes at once, or where the server has ended a subscription. */
  static final Duration SOON = Duration.ofMillis(100);

  /** Where the server is busy with itself, or does not say why. */
  public static final Duration LATER = Duration.ofSeconds(1);

  /** Where somebody has to change something first. */
  public static final Duration MUCH_LATER = Duration.ofMinutes(1);

  private final RedisTransport transport;
  private final Runnable subscribeAgain;
  private final Set<Duration> due = ConcurrentHashMap.newKeySet();

  /** For one transport. */
  public Resubscriber(RedisTransport transport, Runnable subscribeAgain) {
    this.transport = transport;
    this.subscribeAgain = subscribeAgain;
  }

  /** Has it ask again after that time, unless it will anyway. */
  public void after(Duration delay) {
    if (due.add(delay)) {
      transport.schedule(
          () -> {
            due.remove(delay);
            subscribeAgain.run();
          },
          delay);
    }
  }
}
