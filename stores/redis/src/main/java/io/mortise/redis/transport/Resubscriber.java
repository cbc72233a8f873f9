package io.mortise.redis.transport;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Has a transport retry, after a while, the subscriptions that its server lacks. Subscriptions
 * refused together are retried together: at most one round is scheduled for each delay.
 * Thread-safe.
 */
public final class Resubscriber {
  /** After a short-lived refusal, or if the server has ended a subscription. */
  static final Duration SOON = Duration.ofMillis(100);

  /** If the server is starting or overloaded, or gives no reason. */
  public static final Duration LATER = Duration.ofSeconds(1);

  /** If an operator has to change something first. */
  public static final Duration MUCH_LATER = Duration.ofMinutes(1);

  private final RedisTransport transport;
  private final Runnable subscribeAgain;
  private final Set<Duration> due = ConcurrentHashMap.newKeySet();

  /** Serves one transport. */
  public Resubscriber(RedisTransport transport, Runnable subscribeAgain) {
    this.transport = transport;
    this.subscribeAgain = subscribeAgain;
  }

  /** Schedules a retry after that time, unless one is scheduled already. */
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
