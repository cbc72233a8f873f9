package shop;

import io.mortise.spring.LockContext;
import io.mortise.spring.Locked;
import java.time.Duration;
import java.time.Instant;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Counts the orders, each second, in one of the instances. */
@Component
public class Report {
  private final JdbcTemplate jdbc;
  private final String instance;
  private final Duration duration;

  Report(
      JdbcTemplate jdbc,
      @Value("${shop.instance}") String instance,
      @Value("${shop.report.takes}") Duration duration) {
    this.jdbc = jdbc;
    this.instance = instance;
    this.duration = duration;
  }

  /**
   * All instances are called at each tick. The first one has the lock; the others skip the tick.
   * {@code atLeast} keeps the lock taken after a fast report, so that a late instance skips the
   * tick too.
   *
   * <p>If the lock is lost, this thread is interrupted, and the caller gets {@code
   * LeaseLostException}.
   */
  @Scheduled(cron = "${shop.report.cron}")
  @Locked(
      value = "report",
      waitFor = "0",
      ifBusy = Locked.IfBusy.SKIP,
      atLeast = "${shop.report.at-least}")
  public void write() throws InterruptedException {
    long token = LockContext.current().token();
    jdbc.update(
        "INSERT INTO report (token, tick, instance) VALUES (?, ?, ?)",
        token,
        Instant.now().getEpochSecond(),
        instance);
    Thread.sleep(duration.toMillis());
    LockContext.current().ensureValid();
    jdbc.update(
        "UPDATE report SET orders = (SELECT count(*) FROM purchase) WHERE token = ?", token);
  }
}
