package io.mortise.redis.sentinel;

import io.mortise.internal.runtime.CompletionStages;
import io.mortise.redis.transport.BlockingConnection;
import io.mortise.redis.transport.Endpoint;
import io.mortise.redis.transport.EndpointResolver;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.NotTheMasterException;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The master of a set of servers, as Sentinels report it. All Sentinels are asked, since one that
 * was cut off still names the old master. The answer of the latest failover counts, and never one
 * older than an answer heard before. The server found there must confirm itself that it is a
 * master.
 *
 * <p><b>Sentinels that count from 0 again.</b> Failovers are counted from 0 after {@code SENTINEL
 * REMOVE} and {@code MONITOR}, which give a master another address, and by Sentinels recreated
 * without their files. A Sentinel that is merely behind never knew more than it reports now, which
 * tells the two apart. So a smaller number is believed if a majority of all Sentinels names the
 * same server with it, and one more condition holds: no Sentinel is left that last reported a
 * greater number, or a majority has itself reported a greater one before.
 *
 * <p>Thread-safe.
 */
public final class SentinelResolver implements EndpointResolver {
  private static final Logger log = LoggerFactory.getLogger(SentinelResolver.class);

  /** How long a Sentinel may be slower than another. */
  private static final Duration PATIENCE = Duration.ofMillis(500);

  private final List<Endpoint> sentinels;
  private final String name;
  private final Endpoint server;
  private final Ticker ticker;

  /** How many times the Sentinels were asked. */
  private final AtomicLong rounds = new AtomicLong();

  private final ReentrantLock guard = new ReentrantLock();

  // The lock guards the fields below.

  /** Number of the latest failover that was reported and is believed. */
  private long latest;

  /** The latest round whose answers were evaluated. */
  private long judged;

  /** The failover counts of each Sentinel, by its address. */
  private final Map<String, SentinelEpochs> told = new HashMap<>();

  /**
   * Does not connect yet.
   *
   * @param sentinels their addresses and credentials; their timeout bounds each of three questions
   * @param name the set's name at the Sentinels
   * @param server the credentials for the master; its host and port do not matter
   */
  public SentinelResolver(List<Endpoint> sentinels, String name, Endpoint server, Ticker ticker) {
    this.sentinels = List.copyOf(sentinels);
    this.name = name;
    this.server = server;
    this.ticker = ticker;
  }

  /** A Sentinel's answer: after that many failovers, this is the master. */
  private record SentinelReply(long epoch, String host, int port) {}

  /** The number of failovers that a Sentinel reported last, and the greatest it ever reported. */
  private record SentinelEpochs(long last, long greatest) {
    SentinelEpochs then(long epoch) {
      return new SentinelEpochs(epoch, Math.max(epoch, greatest));
    }
  }

  @Override
  public Endpoint resolve() throws IOException {
    long round = rounds.incrementAndGet();
    Map<String, SentinelReply> sentinelReplies = new HashMap<>();
    RuntimeException refusal = null;
    IOException silence = null;
    for (AskedSentinel asked : askAll()) {
      try {
        sentinelReplies.put(
            asked.sentinel().toString(),
            CompletionStages.<SentinelReply, IOException>join(asked.reply()));
      } catch (ErrorReplyException e) {
        refusal = e;
      } catch (IOException e) {
        silence = e;
      }
    }
    if (!sentinelReplies.isEmpty()) {
      SentinelReply best =
          Collections.max(sentinelReplies.values(), Comparator.comparingLong(SentinelReply::epoch));
      judge(round, sentinelReplies, best);
      return server.at(best.host(), best.port());
    } else if (refusal != null) {
      throw refusal;
    }
    throw new IOException("No Sentinel answers: " + sentinels + ".", silence);
  }

  private record AskedSentinel(Endpoint sentinel, CompletableFuture<SentinelReply> reply) {}

  /**
   * Asks all Sentinels at one time, and waits for them. Once a majority has answered, the others
   * have as long again, and {@link #PATIENCE} at least: the network decides how long an answer
   * takes. A minority may be those that were cut off.
   *
   * @return those that have answered or failed
   */
  private List<AskedSentinel> askAll() throws InterruptedIOException {
    BlockingQueue<AskedSentinel> done = new LinkedBlockingQueue<>();
    long begun = ticker.nanos();
    for (Endpoint sentinel : sentinels) {
      CompletableFuture<SentinelReply> reply =
          CompletionStages.detached("mortise-redis-ask", () -> ask(sentinel));
      AskedSentinel asked = new AskedSentinel(sentinel, reply);
      var unused = reply.whenComplete((found, failure) -> done.add(asked));
    }
    List<AskedSentinel> answered = new ArrayList<>();
    int successes = 0;
    Long deadline = null;
    try {
      while (answered.size() < sentinels.size()) {
        AskedSentinel next =
            deadline == null
                ? done.take()
                : done.poll(deadline - ticker.nanos(), TimeUnit.NANOSECONDS);
        if (next == null) {
          return answered;
        }
        answered.add(next);
        successes += next.reply().isCompletedExceptionally() ? 0 : 1;
        if (deadline == null && isMajority(successes)) {
          long now = ticker.nanos();
          deadline = now + Math.max(PATIENCE.toNanos(), now - begun);
        }
      }
      return answered;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while asking Sentinels");
    }
  }

  private void judge(long round, Map<String, SentinelReply> sentinelReplies, SentinelReply best)
      throws NotTheMasterException {
    guard.lock();
    try {
      boolean newest = round > judged;
      if (newest) {
        judged = round;
        sentinelReplies.forEach(
            (sentinel, answer) ->
                told.put(
                    sentinel,
                    told.getOrDefault(sentinel, new SentinelEpochs(0, 0)).then(answer.epoch())));
      }
      if (best.epoch() < latest) {
        // Answers that a later round has overtaken prove nothing.
        if (!newest || !countAnew(sentinelReplies, best)) {
          throw new NotTheMasterException(
              "The Sentinels that answered know %s failovers of '%s', fewer than the %s seen before. They are behind, or were reset one by one: a majority of %s has to agree"
                  .formatted(best.epoch(), name, latest, sentinels));
        }
        log.info(
            "The Sentinels of '{}' count failovers from {} on again, it was {}: they were reset.",
            name,
            best.epoch(),
            latest);
        told.clear();
        sentinelReplies.forEach(
            (sentinel, answer) ->
                told.put(sentinel, new SentinelEpochs(answer.epoch(), answer.epoch())));
      }
      latest = best.epoch();
    } finally {
      guard.unlock();
    }
  }

  private boolean countAnew(Map<String, SentinelReply> sentinelReplies, SentinelReply best) {
    List<Map.Entry<String, SentinelReply>> agreeing =
        sentinelReplies.entrySet().stream().filter(entry -> entry.getValue().equals(best)).toList();
    long knewMore =
        agreeing.stream()
            .map(entry -> told.get(entry.getKey()))
            .filter(one -> one != null && one.greatest() > best.epoch())
            .count();
    boolean nobodyKnowsMore = told.values().stream().allMatch(one -> one.last() <= best.epoch());
    return isMajority(agreeing.size()) && (nobodyKnowsMore || isMajority(knewMore));
  }

  private boolean isMajority(long count) {
    return count * 2 > sentinels.size();
  }

  private SentinelReply ask(Endpoint sentinel) throws IOException {
    try (BlockingConnection blockingConnection = connect(sentinel)) {
      Object address = blockingConnection.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name);
      if (!(address instanceof List<?> parts) || parts.size() != 2) {
        throw new ErrorReplyException("NOMASTER Sentinel at " + sentinel + " knows none");
      }
      Object master = blockingConnection.ask("SENTINEL", "MASTER", name);
      return new SentinelReply(
          epoch(master instanceof List<?> fields ? fields : List.of()),
          String.valueOf(parts.get(0)),
          Integer.parseInt(String.valueOf(parts.get(1))));
    } catch (NumberFormatException e) {
      throw new IOException("Sentinel at " + sentinel + " answers in another form.", e);
    }
  }

  /** Names the Sentinel whose password is wrong, as the servers have another. */
  private BlockingConnection connect(Endpoint sentinel) throws IOException {
    try {
      return BlockingConnection.to(sentinel, ticker);
    } catch (ErrorReplyException e) {
      throw new ErrorReplyException(
          String.valueOf(e.getMessage()).replaceFirst("\\.+$", "")
              + ", says Sentinel at "
              + sentinel
              + " of 'sentinel-user' and 'sentinel-password'");
    }
  }

  private static long epoch(List<? extends @Nullable Object> fields) {
    for (int i = 0; i + 1 < fields.size(); i += 2) {
      if ("config-epoch".equals(fields.get(i))) {
        return Long.parseLong(String.valueOf(fields.get(i + 1)));
      }
    }
    return 0;
  }

  @Override
  public void check(Endpoint found, String role, ServerQuestion server) throws IOException {
    if (!role.equals("master")) {
      throw new NotTheMasterException(
          "The server at " + found + ", named by Sentinel, is a " + role);
    }
  }

  @Override
  public String toString() {
    return name + " of " + sentinels;
  }
}
