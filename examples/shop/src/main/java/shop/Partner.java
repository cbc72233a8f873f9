package shop;

import io.mortise.DistributedSemaphore;
import io.mortise.Lease;
import io.mortise.LockClient;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;

/** A delivery partner. It is slow, so all instances together make at most two calls at a time. */
@Service
public class Partner {
  private static final int CALLS_AT_A_TIME = 2;
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final DistributedSemaphore calls;
  private final JdbcTemplate jdbc;
  private final Duration duration;

  Partner(LockClient locks, JdbcTemplate jdbc, @Value("${shop.partner.takes}") Duration duration) {
    this.calls = locks.semaphore("partner", CALLS_AT_A_TIME);
    this.jdbc = jdbc;
    this.duration = duration;
  }

  /** Has an order delivered. Blocks until a permit is free, then until the partner has answered. */
  void deliver(long order) throws InterruptedException {
    try (Lease permit = calls.acquireWithin(WAIT)) {
      // If the permit is lost, another instance may use it: give up this call.
      permit.run(() -> call(order));
    }
  }

  /** Stands in for a network request. */
  private void call(long order) throws InterruptedException {
    jdbc.update("INSERT INTO delivery (purchase, began) VALUES (?, clock_timestamp())", order);
    Thread.sleep(duration.toMillis());
    jdbc.update("UPDATE delivery SET ended = clock_timestamp() WHERE purchase = ?", order);
  }
}
