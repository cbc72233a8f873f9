package io.mortise.testkit.contract.differential;

import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionVerdict;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Compares the answers of two stores. Tokens are compared by their order within a name, durations
 * with a tolerance, notifications regardless of order, and places in the queue as upper bounds.
 */
final class ReplyComparison {
  /** The delay between the same command on the two stores, on a busy machine. */
  private static final Duration TOLERANCE = BoundedWait.scaled(Duration.ofSeconds(20));

  /** Less than the error of a wrong time. */
  private static final Duration TOLERANCE_BY_HAND = Duration.ofSeconds(4);

  private final Duration tolerance;
  private final boolean tokens;
  private final boolean allTokens;
  private final boolean records;

  /**
   * Whether a view shows when a hold ends; without a record, a hold that is closed shows nothing.
   */
  private final boolean showsEnds;

  /** Whether a holder's client is known; without sessions a holder may be shown by its attempt. */
  private final boolean clients;

  /** Attempts granted from the queue, in a store that serves its queue by itself. */
  private final Set<AttemptId> served = new HashSet<>();

  /** Attempts whose end was reported before. */
  private final Set<AttemptId> ended = new HashSet<>();

  private final Map<LockName, TreeMap<Long, Long>> pairs = new HashMap<>();
  private final List<String> differences = new ArrayList<>();

  /** For a store and its reference. */
  ReplyComparison(StoreUnderTest under) {
    Set<Capability> capabilities = under.capabilities();
    this.tolerance = under.isTimeByHand() ? TOLERANCE_BY_HAND : TOLERANCE;
    this.allTokens = under.givesAllTokens();
    this.tokens = capabilities.contains(Capability.TOKEN);
    this.records =
        capabilities.contains(Capability.RECORD) || !capabilities.contains(Capability.SESSION);
    this.showsEnds = records || capabilities.contains(Capability.AT_MOST);
    this.clients = capabilities.contains(Capability.SESSION);
  }

  /**
   * Compares two answers about a lock.
   *
   * @param view the lock in the reference after the command; null for commands about no lock
   * @return the differences; empty if there are none
   */
  List<String> compare(
      @Nullable LockName name, @Nullable LockInfo view, Object expected, Object actual) {
    differences.clear();
    compareOne(name, view, expected, actual);
    return List.copyOf(differences);
  }

  private void compareOne(
      @Nullable LockName name, @Nullable LockInfo view, Object expected, Object actual) {
    if (expected instanceof Reply left && actual instanceof Reply right && name != null) {
      reply(name, view, left, right);
    } else if (expected instanceof Renewal left && actual instanceof Renewal right) {
      renewal(left, right);
    } else if (expected instanceof SessionVerdict.Alive left
        && actual instanceof SessionVerdict.Alive right) {
      same("beat", left.beat(), right.beat());
      near("time left", left.left(), right.left());
    } else if (expected instanceof Page<?> left && actual instanceof Page<?> right) {
      page(left, right);
    } else {
      same("answer", expected, actual);
    }
  }

  private void reply(LockName name, @Nullable LockInfo view, Reply expected, Reply actual) {
    same("attempt", expected.attempt(), actual.attempt());
    if (!showsEnds
        && expected instanceof Reply.Granted closed
        && closed.atMostLeft() != null
        && actual instanceof Reply.Refused refused
        && refused.why() == Reply.RefusalReason.EVICTED) {
      // Its hold cannot be told to end at a time.
      return;
    }
    if (expected instanceof Reply.Granted left && actual instanceof Reply.Granted right) {
      token(name, left.token(), right.token());
      if (allTokens || right.tokens() < 1 || right.tokens() > left.tokens()) {
        same("tokens", left.tokens(), right.tokens());
      }
      same("wanted", left.wanted(), right.wanted());
      near("at most", left.atMostLeft(), right.atMostLeft());
    } else if (expected instanceof Reply.Queued left && actual instanceof Reply.Queued right) {
      long place =
          view == null
              ? 0
              : view.waiters().stream()
                  .takeWhile(waiter -> !waiter.attempt().equals(left.attempt().encoded()))
                  .count();
      if (right.ahead() < place) {
        differences.add("ahead: " + place + " are, but at most " + right.ahead() + " was told");
      }
      holder(name, view, left.holder(), right.holder());
      retryAfter(left.retryAfter(), right.retryAfter());
    } else if (expected instanceof Reply.Busy left && actual instanceof Reply.Busy right) {
      holder(name, view, left.holder(), right.holder());
      retryAfter(left.retryAfter(), right.retryAfter());
    } else if (expected instanceof Reply.Refused left && actual instanceof Reply.Refused right) {
      same("refused", left.why(), right.why());
    } else if (expected instanceof Reply.Ended left && actual instanceof Reply.Ended right) {
      ended(left, right);
    } else {
      same("answer", expected, actual);
    }
  }

  /**
   * Compares ends of attempts. Without a record, a store may answer that a repeated end, or one
   * caused by another session, is unknown; and that an attempt granted unnoticed was still waiting.
   * The owner is not told of an end caused by another session, so it later attributes that end to
   * its own session's.
   */
  private void ended(Reply.Ended expected, Reply.Ended actual) {
    boolean unheard =
        expected.was() == Reply.AttemptState.HELD && actual.was() == Reply.AttemptState.WAITING;
    if (!records && unheard) {
      same("how it ended", expected.how(), actual.how());
      return;
    }
    boolean first = ended.add(expected.attempt()) && expected.how() == Reply.EndReason.RELEASED;
    boolean takenForIt =
        expected.how() == Reply.EndReason.RELEASED
            && actual.how() == Reply.EndReason.TAKEN
            && !first;
    boolean known =
        actual.was() != Reply.AttemptState.ABSENT
            && actual.how() != Reply.EndReason.UNKNOWN
            && !takenForIt;
    if (records || first || known) {
      same("answer", expected, actual);
    }
  }

  /**
   * Compares holders. Of several holders any may be named, but one that is to be judged goes first.
   */
  private void holder(
      LockName name,
      @Nullable LockInfo view,
      Reply.@Nullable Holder expected,
      Reply.@Nullable Holder actual) {
    if (expected == null || actual == null) {
      same("holder", expected, actual);
      return;
    }
    if (view == null || view.holders().size() == 1) {
      same("holder", expected.attempt(), actual.attempt());
      recordedToken(name, expected.token(), actual.token());
    } else if (view.holders().stream()
        .noneMatch(h -> h.attempt().equals(actual.attempt().encoded()))) {
      differences.add("holder: " + actual.attempt() + " does not hold");
    }
    near("session left", expected.sessionLeft(), actual.sessionLeft());
  }

  /** Compares retry times: earlier is harmless, but later means to sleep while the lock is free. */
  private void retryAfter(Duration expected, Duration actual) {
    if (actual.isNegative() || actual.isZero()) {
      differences.add("ask again: in " + actual + ", without a pause");
    }
    Duration latest =
        expected.compareTo(Duration.ofSeconds(1)) < 0
            ? Duration.ofSeconds(1)
            : expected.plus(tolerance);
    if (actual.compareTo(latest) > 0) {
      differences.add("ask again: in " + actual + ", not in " + expected);
    }
  }

  private void renewal(Renewal expected, Renewal actual) {
    if (expected instanceof Renewal.Renewed left && actual instanceof Renewal.Renewed right) {
      List<SessionNotification> missing = notifications(left);
      List<SessionNotification> surplus = new ArrayList<>();
      for (SessionNotification told : notifications(right)) {
        int match = -1;
        for (int i = 0; i < missing.size() && match < 0; i++) {
          match = sameNews(missing.get(i), told, !records) ? i : -1;
        }
        if (match < 0 && !records && isOfEnded(told)) {
          continue;
        }
        if (match < 0) {
          surplus.add(told);
        } else if (missing.remove(match) instanceof SessionNotification.HoldGranted granted) {
          served.add(granted.attempt());
          token(granted.name(), granted.token(), ((SessionNotification.HoldGranted) told).token());
        }
      }
      if (!records) {
        // A granted waiter may see other waiters at once, or be notified later.
        missing.removeIf(this::isWantedOfServed);
        surplus.removeIf(this::isWantedOfServed);
      }
      if (!missing.isEmpty() || !surplus.isEmpty()) {
        differences.add("news: missing " + missing + ", surplus " + surplus);
      }
      same("more", left.more(), right.more());
    } else {
      same("renewal", expected.getClass(), actual.getClass());
    }
  }

  /** Without a record, the owner learns late, or never, of holds ended by another session. */
  private boolean isOfEnded(SessionNotification told) {
    return ended.contains(told.attempt())
        || (told instanceof SessionNotification.HoldEnded holdEnded
            && holdEnded.how() == Reply.EndReason.UNKNOWN);
  }

  /** An attempt that was granted once more by a late request ends twice, which may be told once. */
  private static List<SessionNotification> notifications(Renewal.Renewed renewed) {
    List<SessionNotification> told = new ArrayList<>();
    for (Renewal.NumberedNotification each : renewed.notifications()) {
      SessionNotification notification = each.notification();
      if (!(notification instanceof SessionNotification.HoldEnded)
          || !told.contains(notification)) {
        told.add(notification);
      }
    }
    return told;
  }

  private boolean isWantedOfServed(SessionNotification sessionNotification) {
    return sessionNotification instanceof SessionNotification.Contended
        && served.contains(sessionNotification.attempt());
  }

  private static boolean sameNews(
      SessionNotification expected, SessionNotification actual, boolean anyWanted) {
    if (expected instanceof SessionNotification.HoldGranted left
        && actual instanceof SessionNotification.HoldGranted right) {
      return left.name().equals(right.name())
          && left.attempt().equals(right.attempt())
          && left.tokens() == right.tokens()
          && (anyWanted || left.wanted() == right.wanted())
          && left.timed() == right.timed();
    }
    return expected.equals(actual);
  }

  private void page(Page<?> expected, Page<?> actual) {
    Map<LockName, LockInfo> left = byName(expected);
    Map<LockName, LockInfo> right = byName(actual);
    same("locks", left.keySet(), right.keySet());
    left.forEach(
        (name, view) -> {
          LockInfo other = right.get(name);
          if (other != null) {
            view(view, other);
          }
        });
  }

  private static Map<LockName, LockInfo> byName(Page<?> page) {
    Map<LockName, LockInfo> views = new TreeMap<>();
    for (Object item : page.items()) {
      LockInfo view = (LockInfo) item;
      views.put(LockName.of(view.name()), view);
    }
    return views;
  }

  private void view(LockInfo expected, LockInfo actual) {
    LockName name = LockName.of(expected.name());
    same("permits", expected.permits(), actual.permits());
    near("shut for", expected.shutFor(), actual.shutFor());
    recordedToken(name, expected.lastToken(), actual.lastToken());
    parties("holder", name, expected.holders(), actual.holders());
    parties("waiter", name, expected.waiters(), actual.waiters());
    same("waiter count", expected.waiterCount(), actual.waiterCount());
    if (actual.lastEnd() != null) {
      same("last end", expected.lastEnd(), actual.lastEnd());
    }
  }

  private void parties(
      String what, LockName name, List<LockParticipant> expected, List<LockParticipant> actual) {
    same(
        what + "s",
        expected.stream().map(LockParticipant::attempt).toList(),
        actual.stream().map(LockParticipant::attempt).toList());
    for (int i = 0; i < Math.min(expected.size(), actual.size()); i++) {
      LockParticipant left = expected.get(i);
      LockParticipant right = actual.get(i);
      boolean gone = left.isGone();
      if (clients && (!gone || (left.client() != null && right.client() != null))) {
        same(what + " client", left.client(), right.client());
      }
      same(what + " label", left.label(), right.label());
      same(what + " share", left.share(), right.share());
      recordedToken(name, left.token(), right.token());
      near(what + " since", left.since(), right.since(), false);
      near(what + " session left", left.sessionLeft(), right.sessionLeft());
      if (showsEnds || right.atMostLeft() != null) {
        near(what + " at most", left.atMostLeft(), right.atMostLeft());
      }
    }
  }

  /** Without a record, others see the holder's first token only, and no token of idle locks. */
  private void recordedToken(LockName name, long expected, long actual) {
    if (records) {
      token(name, expected, actual);
    }
  }

  /** Tokens of one name have the same order in both stores. */
  private void token(LockName name, long expected, long actual) {
    if (!tokens) {
      return;
    }
    TreeMap<Long, Long> pair =
        pairs.computeIfAbsent(name, unknown -> new TreeMap<>(Map.of(0L, 0L)));
    Map.Entry<Long, Long> below = pair.lowerEntry(expected);
    Map.Entry<Long, Long> above = pair.higherEntry(expected);
    Long same = pair.putIfAbsent(expected, actual);
    if ((same != null && same != actual)
        || (below != null && below.getValue() >= actual)
        || (above != null && above.getValue() <= actual)) {
      differences.add(
          "token: "
              + actual
              + " stands for "
              + expected
              + " of the reference, where "
              + (same != null && same != actual
                  ? same + " did before"
                  : "the order of tokens is "
                      + pair.headMap(expected)
                      + " "
                      + pair.tailMap(expected)));
    }
  }

  private void same(String what, @Nullable Object expected, @Nullable Object actual) {
    if (expected == null ? actual != null : !expected.equals(actual)) {
      differences.add(what + ": expected " + expected + ", got " + actual);
    }
  }

  private void near(String what, @Nullable Duration expected, @Nullable Duration actual) {
    near(what, expected, actual, true);
  }

  private void near(
      String what, @Nullable Duration expected, @Nullable Duration actual, boolean zeroCounts) {
    if (expected == null || actual == null) {
      same(what, expected, actual);
    } else if ((zeroCounts && expected.isZero() != actual.isZero())
        || expected.minus(actual).abs().compareTo(tolerance) > 0) {
      differences.add(what + ": expected about " + expected + ", got " + actual);
    }
  }
}
