package io.mortise.redis.transport;

import static io.mortise.internal.runtime.FailureText.withoutFullStop;

import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time for which a transport has no connection: its reason, and whether it was logged. Changed
 * by one thread at a time; thread-safe to read.
 */
public final class ConnectionOutage {
  private static final Logger log = LoggerFactory.getLogger(DirectTransport.class);

  /** During a failover servers refuse for a moment. */
  private static final long REFUSED_NANOS = 1_000_000_000;

  /** Errors of a server that does not let this user in. */
  private static final List<String> OF_CREDENTIALS = List.of("WRONGPASS", "NOAUTH", "NOPERM");

  private final Ticker ticker;

  /** Since when there has been no connection, and why none could be made; null while there is. */
  private volatile @Nullable ConnectionFailure outage;

  /**
   * The reason why a connection cannot be opened.
   *
   * @param warned whether it was logged
   */
  private record ConnectionFailure(long since, String reason, boolean warned) {
    String at(long now) {
      Duration lasted = Duration.ofNanos(now - since);
      return "There %s: %s."
          .formatted(
              lasted.toMillis() == 0
                  ? "is no connection"
                  : "has been no connection for " + DurationText.format(lasted),
              reason);
    }
  }

  /** There is a connection. */
  public ConnectionOutage(Ticker ticker) {
    this.ticker = ticker;
  }

  /** The message for a caller whose command cannot be sent. */
  public String text() {
    ConnectionFailure now = outage;
    return now == null ? "There is no connection." : now.at(ticker.nanos());
  }

  /** A connection broke. Returns false if none has worked since the last outage began. */
  public boolean begin(String why) {
    if (outage != null) {
      return false;
    }
    outage =
        new ConnectionFailure(ticker.nanos(), "the last one broke: " + withoutFullStop(why), false);
    return true;
  }

  /** Reports the break. A listener that throws must not end the thread that reconnects. */
  static void tell(TransportListener listener, Throwable why) {
    try {
      listener.connectionLost(reason(why));
    } catch (RuntimeException | Error e) {
      log.error("What follows from a connection to Redis that broke could not be done.", e);
    }
  }

  /**
   * There is a connection again.
   *
   * @param server for the log
   */
  public void end(Object server) {
    ConnectionFailure before = outage;
    outage = null;
    if (before != null && before.warned()) {
      log.info(
          "Connected to Redis at {} again after {}.",
          server,
          DurationText.format(Duration.ofNanos(ticker.nanos() - before.since())));
    }
  }

  /**
   * A connection could not be opened. Waiters do not learn the cause, so a cause that needs a
   * person is logged once.
   *
   * @param server for the log
   * @param closed whether that no longer matters
   */
  public void failed(Throwable failure, Object server, boolean closed) {
    String reason = withoutFullStop(reason(failure));
    if (failure instanceof ErrorReplyException error
        && OF_CREDENTIALS.stream().anyMatch(error::is)) {
      reason += ". Check the user, its password and its permissions";
    }
    ConnectionFailure before = outage;
    long nanos = ticker.nanos();
    long since = before == null ? nanos : before.since();
    boolean warned = before != null && before.warned() && before.reason().equals(reason);
    ConnectionFailure now = new ConnectionFailure(since, reason, warned);
    boolean refused =
        failure instanceof ErrorReplyException
            || failure instanceof SSLException
            || failure instanceof TlsMismatchException
            || failure instanceof NotTheMasterException;
    if (refused && !warned && nanos - since > REFUSED_NANOS && !closed) {
      log.warn(
          "Cannot reconnect to Redis at {} for {}: {}. Mend the cause; the client goes on trying.",
          server,
          DurationText.format(Duration.ofNanos(nanos - since)),
          reason);
      now = new ConnectionFailure(since, reason, true);
    }
    outage = now;
  }

  /** The reason in a failure's own words. */
  static String reason(Throwable failure) {
    String message = failure.getMessage();
    return message == null ? failure.getClass().getSimpleName() : message;
  }
}
