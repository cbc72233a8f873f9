package io.mortise.redis.sentinel;

import io.mortise.redis.transport.DirectTransport;
import io.mortise.redis.transport.Endpoint;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens to one Sentinel after the other for a new master. A connection to a demoted primary need
 * not break: a primary cut off from the others still answers.
 */
final class SentinelListener implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SentinelListener.class);
  private static final long LOOK_MILLIS = 1_000;

  private final DirectTransport transport;
  private final Duration patience;
  private final ScheduledFuture<?> looking;

  /**
   * Begins to listen; does not wait for a Sentinel.
   *
   * @param told gets the address that a Sentinel names, {@code host:port}, now and then and at once
   *     after a failover; must be fast
   */
  SentinelListener(
      List<Endpoint> sentinels,
      String name,
      ScheduledExecutorService timer,
      Ticker ticker,
      Duration stuck,
      Consumer<String> told) {
    this.patience = stuck;
    AtomicInteger next = new AtomicInteger();
    this.transport =
        DirectTransport.connecting(
            () -> sentinels.get(Math.floorMod(next.getAndIncrement(), sentinels.size())),
            "mortise-redis-sentinel",
            timer,
            ticker,
            stuck,
            () -> {});
    transport.subscribe(
        "+switch-master",
        text -> {
          // <name> <old host> <old port> <new host> <new port>
          String[] words = text.split(" ", -1);
          if (words.length == 5 && words[0].equals(name)) {
            log.info("Sentinel named {}:{} the new master '{}'.", words[3], words[4], name);
            told.accept(words[3] + ":" + words[4]);
          }
        });
    this.looking =
        timer.scheduleWithFixedDelay(
            () -> look(name, told), LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look(String name, Consumer<String> told) {
    var unused =
        transport
            .call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name)
            .thenApply(Optional::ofNullable)
            .toCompletableFuture()
            .orTimeout(patience.toNanos(), TimeUnit.NANOSECONDS)
            .whenComplete(
                (answer, failure) -> {
                  if (failure == null
                      && answer.orElse(null) instanceof List<?> parts
                      && parts.size() == 2) {
                    told.accept(parts.get(0) + ":" + parts.get(1));
                  } else if (failure == null || hasNoAnswer(failure)) {
                    // This Sentinel knows no master, or does not answer: try the next.
                    transport.reset();
                  }
                });
  }

  private static boolean hasNoAnswer(Throwable failure) {
    return failure instanceof TimeoutException || failure.getCause() instanceof IOException;
  }

  @Override
  public void close() {
    looking.cancel(false);
    transport.close();
  }
}
