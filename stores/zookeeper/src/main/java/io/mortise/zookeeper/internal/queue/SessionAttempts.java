package io.mortise.zookeeper.internal.queue;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.internal.session.Refusals;
import io.mortise.zookeeper.internal.node.EndedAttempts;
import io.mortise.zookeeper.internal.node.EndedAttempts.AttemptEnd;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.queue.ZooKeeperAttempt.NodeState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of one session at all of its locks: those with a possible node, and the last ends of
 * others. It does no I/O. Guarded by its session.
 */
public final class SessionAttempts {
  private final SessionId session;
  private final AttemptTable attempts = new AttemptTable();
  private final EndedAttempts endedAttempts = new EndedAttempts();

  /** The numbers of attempts that an operator has ended, and that may still have a node. */
  private final Set<Long> evicted = new HashSet<>();

  /** Holders that take less than their nodes tell, by number. */
  private final Map<Long, SentNarrowing> narrowings = new HashMap<>();

  /** The at-least times of attempts, by number. */
  private final Map<Long, AtLeastHold> atLeasts = new HashMap<>();

  /** Looks at queues in flight that may bring a notification. */
  private int looks;

  public SessionAttempts(SessionId session) {
    this.session = session;
  }

  public boolean isOurs(AttemptId id) {
    return id.session().equals(session);
  }

  public AttemptId id(ZooKeeperAttempt attempt) {
    return new AttemptId(session, attempt.number);
  }

  /** The attempt with this id at the lock; null for one of another session, too. */
  @Nullable ZooKeeperAttempt find(AttemptId id, LockName name) {
    ZooKeeperAttempt attempt = isOurs(id) ? attempts.get(id.number()) : null;
    return attempt != null && attempt.name.equals(name) ? attempt : null;
  }

  /** Whether an attempt of this session has ended, or its number was given to another one. */
  boolean hasEnded(AttemptId id, LockName name) {
    return endedAttempts.get(id.number(), name) != null || attempts.get(id.number()) != null;
  }

  /** Refuses a request of an attempt that ends, or has ended. */
  Reply.Refused refusal(AttemptId id, LockName name) {
    AttemptEnd attemptEnd = endedAttempts.get(id.number(), name);
    boolean isEvicted =
        evicted.contains(id.number())
            || (attemptEnd != null && attemptEnd.endReason == EndReason.EVICTED);
    return isEvicted ? Refusals.ended(id, EndReason.EVICTED) : Refusals.ended(id);
  }

  /** A narrowing of a hold was sent. */
  private static final class SentNarrowing {
    /** The weights that were sent; each may have a mark. */
    private final List<Integer> sent = new ArrayList<>();

    /** Whether the last one was executed. */
    private boolean isSure;
  }

  /** The attempt is about to be marked with this weight, which is below those before. */
  void narrowing(ZooKeeperAttempt attempt, int weight) {
    SentNarrowing narrowing =
        narrowings.computeIfAbsent(attempt.number, none -> new SentNarrowing());
    if (!narrowing.sent.contains(weight)) {
      narrowing.sent.add(weight);
    }
    narrowing.isSure = false;
  }

  /** The mark was made. */
  void narrowed(ZooKeeperAttempt attempt) {
    SentNarrowing narrowing = narrowings.get(attempt.number);
    if (narrowing != null) {
      narrowing.isSure = true;
    }
  }

  /** The least weight that the attempt may have by now. */
  int weight(ZooKeeperAttempt attempt) {
    List<Integer> sent = narrowed(attempt.number);
    return sent.isEmpty() ? attempt.weight() : sent.get(sent.size() - 1);
  }

  /** Whether the attempt certainly has that weight. */
  boolean isSureOfWeight(ZooKeeperAttempt attempt) {
    SentNarrowing narrowing = narrowings.get(attempt.number);
    return narrowing == null || narrowing.isSure;
  }

  /** Whether others may share the hold of an attempt whose node is exclusive. */
  boolean isNarrowed(ZooKeeperAttempt attempt) {
    return narrowings.containsKey(attempt.number);
  }

  /** The names of the marks that the attempt may have. */
  public List<String> marks(ZooKeeperAttempt attempt) {
    return narrowed(attempt.number).stream()
        .map(weight -> LockQueue.narrowed(weight, attempt.seq))
        .toList();
  }

  private List<Integer> narrowed(long number) {
    SentNarrowing narrowing = narrowings.get(number);
    return narrowing == null ? List.of() : narrowing.sent;
  }

  /** Starts an at-least time of an attempt, or starts it again. */
  void startAtLeast(ZooKeeperAttempt attempt, Duration length) {
    AtLeastHold present = atLeasts.get(attempt.number);
    if (present == null) {
      atLeasts.put(attempt.number, new AtLeastHold(length));
    } else {
      present.restart(length);
    }
  }

  /** The at-least time of an attempt; null if it has none. */
  @Nullable AtLeastHold atLeast(ZooKeeperAttempt attempt) {
    return atLeasts.get(attempt.number);
  }

  void add(ZooKeeperAttempt attempt) {
    attempts.add(attempt);
  }

  /** The attempt has no node, and counts as never made. */
  void discard(ZooKeeperAttempt attempt) {
    attempts.remove(attempt);
    atLeasts.remove(attempt.number);
    evicted.remove(attempt.number);
  }

  /** The attempt's node is gone; its end is remembered. */
  void end(ZooKeeperAttempt attempt, AttemptEnd attemptEnd) {
    attempts.remove(attempt);
    narrowings.remove(attempt.number);
    atLeasts.remove(attempt.number);
    AttemptEnd remembered = attemptEnd;
    if (evicted.remove(attempt.number)) {
      remembered = attempt.wasHeld() ? AttemptEnd.HOLD_EVICTED : AttemptEnd.WAIT_EVICTED;
    }
    endedAttempts.add(attempt.number, attempt.name, remembered);
  }

  /**
   * An operator ends this attempt.
   *
   * @return the attempt, if it is one of this session and was not evicted before
   */
  public Optional<ZooKeeperAttempt> evict(AttemptId id) {
    ZooKeeperAttempt attempt = isOurs(id) ? attempts.get(id.number()) : null;
    return attempt != null && evicted.add(attempt.number) ? Optional.of(attempt) : Optional.empty();
  }

  boolean isEvicted(ZooKeeperAttempt attempt) {
    return evicted.contains(attempt.number);
  }

  /** The session has ended, with its holds. */
  public void over() {
    evicted.clear();
    narrowings.clear();
    atLeasts.clear();
    for (ZooKeeperAttempt attempt : attempts.all()) {
      if (attempt.wasHeld()) {
        endedAttempts.add(attempt.number, attempt.name, AttemptEnd.HOLD_TAKEN);
      }
      attempts.remove(attempt);
    }
  }

  /** The answer to a request that ends an attempt without a node. */
  public Reply.Ended absent(AttemptId id, LockName name) {
    AttemptEnd attemptEnd = isOurs(id) ? endedAttempts.get(id.number(), name) : null;
    return attemptEnd == null
        ? new Reply.Ended(id, AttemptState.ABSENT, EndReason.UNKNOWN, false)
        : new Reply.Ended(id, attemptEnd.attemptState, attemptEnd.endReason, false);
  }

  /**
   * Another attempt wants the lock that this one holds, or is about to hold.
   *
   * @return the notification for the engine
   */
  public Optional<SessionNotification> want(AttemptId id) {
    ZooKeeperAttempt attempt = isOurs(id) ? attempts.get(id.number()) : null;
    if (attempt == null || attempt.isWanted()) {
      return Optional.empty();
    }
    attempt.wanted();
    return attempt.state() == NodeState.HELD && !attempt.leaving
        ? Optional.of(new SessionNotification.Contended(attempt.name, id))
        : Optional.empty();
  }

  public List<ZooKeeperAttempt> all() {
    return attempts.all();
  }

  /** Attempts at the lock that may or may not have a node. */
  List<ZooKeeperAttempt> inDoubt(LockName name) {
    return attempts.all().stream()
        .filter(attempt -> attempt.state() == NodeState.DOUBT && attempt.name.equals(name))
        .toList();
  }

  /** The locks that have such attempts. */
  public Set<LockName> namesInDoubt() {
    return attempts.all().stream()
        .filter(attempt -> attempt.state() == NodeState.DOUBT)
        .map(attempt -> attempt.name)
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** Holders whose engine hears of the grant once a mark was made, which failed. */
  List<ZooKeeperAttempt> unmarked() {
    return attempts.all().stream()
        .filter(
            attempt -> {
              AtLeastHold atLeast = atLeast(attempt);
              return atLeast != null && atLeast.announces && !atLeast.isMarking;
            })
        .toList();
  }

  /** The locks that have such attempts. */
  public Set<LockName> namesUnmarked() {
    return unmarked().stream().map(attempt -> attempt.name).collect(Collectors.toSet());
  }

  void lookBegins() {
    looks++;
  }

  void lookEnds() {
    looks--;
  }

  /** Whether no look is in flight that may bring a notification. */
  public boolean isSettled() {
    return looks == 0;
  }
}
