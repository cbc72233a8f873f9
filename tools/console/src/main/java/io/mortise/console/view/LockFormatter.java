package io.mortise.console.view;

import io.mortise.admin.EndedHold;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.admin.LockState;
import io.mortise.spi.AttemptId;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Formats locks for people, as text without control characters, and for programs. */
public final class LockFormatter {
  /** A wait this much longer than the holder's TTL has judged it, even on a slow store. */
  private static final Duration JUDGING = Duration.ofSeconds(2);

  /** A holder or waiter with a live session whose process the store does not report. */
  private static final String UNKNOWN_CLIENT = "(another client)";

  private LockFormatter() {}

  /** The condition of a lock, including a recorded holder whose process is gone. */
  public enum Condition {
    HELD,
    GONE,
    SHUT,
    CHANGING_HANDS,
    FREE;

    /** For people and programs. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  /** The condition of a lock. */
  public static Condition condition(LockInfo lock) {
    return switch (lock.state()) {
      case HELD -> all(lock.holders(), LockFormatter::isGone) ? Condition.GONE : Condition.HELD;
      case SHUT -> Condition.SHUT;
      case CHANGING_HANDS -> Condition.CHANGING_HANDS;
      case FREE -> Condition.FREE;
    };
  }

  /** Whether the session of a participant is over: its process has ended, or is cut off. */
  public static boolean isGone(LockParticipant party) {
    return party.isGone();
  }

  /**
   * Whether its process seems to be gone although its session has not been judged: in a clockless
   * store, by the clocks of two hosts.
   */
  public static boolean isSilent(LockParticipant party) {
    Duration ago = party.renewedAgo();
    return ago != null && !isGone(party) && ago.compareTo(party.sessionTtl().multipliedBy(2)) > 0;
  }

  /**
   * Whether an operator has evicted a holder that has not released yet, in a clockless store. Such
   * a store has no at-most times: there that field is the time for which this client still has to
   * observe an evicted hold.
   */
  public static boolean isEvicted(LockParticipant holder) {
    return holder.renewedAgo() != null && holder.atMostLeft() != null;
  }

  /** Whether all its holders seem to be gone. */
  public static boolean looksGone(LockInfo lock) {
    return lock.state() == LockState.HELD
        && all(lock.holders(), holder -> isGone(holder) || isSilent(holder));
  }

  /** Whether all holders match; false if none is reported. */
  private static boolean all(List<LockParticipant> holders, Predicate<LockParticipant> which) {
    return !holders.isEmpty() && holders.stream().allMatch(which);
  }

  /**
   * The note about a participant that was not renewed for long, to be put in brackets; empty if it
   * was.
   */
  public static String silence(LockParticipant party) {
    Duration ago = party.renewedAgo();
    return ago == null || !isSilent(party)
        ? ""
        : "not renewed for " + DurationText.format(ago) + ", " + verdict(party);
  }

  /** The text about a session that seems to be gone but has not been judged. */
  private static String verdict(LockParticipant silent) {
    return isEvicted(silent) ? "evicted" : "not judged";
  }

  /** The text about the life of a participant's session. */
  public static String session(LockParticipant party) {
    Duration ago = party.renewedAgo();
    String ttl =
        party.sessionTtl().isZero() ? "" : ", TTL " + DurationText.format(party.sessionTtl());
    Duration left = party.sessionLeft();
    if (isGone(party)) {
      return "over" + ttl;
    } else if (ago == null) {
      return left == null ? "not asked for" : DurationText.format(left) + " left";
    }
    if (isSilent(party)) {
      return verdict(party) + ttl;
    }
    return (isEvicted(party) ? "evicted, " : "")
        + "renewed "
        + DurationText.format(ago)
        + " ago"
        + ttl;
  }

  /**
   * A sentence, preceded by a space, that tells a caller to wait in order to judge a dead holder;
   * empty if the store judges, or the wait was long enough.
   *
   * @param waited the caller's wait so far
   */
  public static String waitingJudges(LockInfo lock, Duration waited) {
    return lock.holders().stream()
        .filter(holder -> holder.renewedAgo() != null)
        .filter(holder -> waited.compareTo(holder.sessionTtl().plus(JUDGING)) <= 0)
        .map(
            holder ->
                " In this store only a wait of more than the holder's TTL of "
                    + DurationText.format(holder.sessionTtl())
                    + " finds out whether it is dead.")
        .findFirst()
        .orElse("");
  }

  /**
   * The holders, their ages and the number of waiters; to be appended to a clause, with the full
   * stop.
   */
  public static String situation(LockInfo lock) {
    String text =
        switch (condition(lock)) {
          case HELD -> ": " + holding(lock);
          case GONE -> ": " + gone(lock);
          case SHUT -> ": shut for another " + DurationText.format(lock.shutFor());
          case CHANGING_HANDS, FREE -> "";
        };
    if (lock.waiterCount() > 0) {
      text += (text.isEmpty() ? ": " : ", ") + lock.waiterCount() + " waiting";
    }
    return text + ".";
  }

  private static String holding(LockInfo lock) {
    LockParticipant holder = lock.holders().get(0);
    int more = lock.holders().size() - 1;
    return "held by "
        + client(holder)
        + (more == 0 ? "" : " and " + more + " more")
        + (holder.since().isZero() ? "" : " for " + DurationText.format(holder.since()))
        + inBrackets(holder);
  }

  /** The text about a dead holder: its identity, and the consequences for others. */
  public static String gone(LockInfo lock) {
    return "its holder is gone"
        + facts(lock.holders().get(0))
        + (lock.shutFor().isZero()
            ? "; it is free for the next to ask"
            : "; it stays shut for another " + DurationText.format(lock.shutFor()));
  }

  /** The details of a dead holder. */
  private static String facts(LockParticipant dead) {
    List<String> facts = new ArrayList<>();
    if (dead.client() != null) {
      facts.add(client(dead.client()));
    }
    if (!dead.label().isEmpty()) {
      facts.add(OutputSanitizer.text(dead.label()));
    }
    if (!dead.sessionTtl().isZero()) {
      facts.add("session TTL " + DurationText.format(dead.sessionTtl()));
    }
    return facts.isEmpty() ? "" : " (" + String.join(", ", facts) + ")";
  }

  /**
   * A dead holder, in a column: {@code host:pid (gone, shut for 4m)}.
   *
   * @param client null if unknown
   */
  public static String goneHolder(@Nullable ClientInfo client, Duration shutFor) {
    return (client == null ? "" : client(client) + " ")
        + "(gone"
        + (shutFor.isZero() ? "" : ", shut for " + DurationText.format(shutFor))
        + ")";
  }

  /** The cause of a hold's end. */
  public static String cause(EndedHold end) {
    return switch (end.cause()) {
      case RELEASED -> "released";
      case AT_MOST -> "its at-most time was over";
      case EVICTED -> "evicted by an operator";
      case SESSION_EXPIRED -> "its session was over";
    };
  }

  private static String inBrackets(LockParticipant party) {
    return party.label().isEmpty() ? "" : " (" + OutputSanitizer.text(party.label()) + ")";
  }

  /** For programs. Tokens are strings, as they exceed the range of a double. */
  public static Map<String, @Nullable Object> json(LockInfo lock) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("name", lock.name());
    json.put("state", condition(lock).toString());
    json.put("permits", lock.permits().isPresent() ? lock.permits().getAsInt() : null);
    json.put("lastToken", jsonToken(lock.lastToken()));
    json.put("shutForMillis", lock.shutFor().toMillis());
    json.put("holders", lock.holders().stream().map(LockFormatter::json).toList());
    json.put("waiters", lock.waiters().stream().map(LockFormatter::json).toList());
    json.put("waiterCount", lock.waiterCount());
    json.put("lastEnd", lock.lastEnd() == null ? null : json(lock.lastEnd()));
    return json;
  }

  /** Formats the end of a hold for programs. */
  public static Map<String, @Nullable Object> json(EndedHold end) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("session", AttemptId.parse(end.attempt()).session().value());
    json.put("attempt", attempt(end.attempt()));
    json.put("cause", end.cause().name().toLowerCase(Locale.ROOT));
    return json;
  }

  /** Formats a participant for programs. */
  public static Map<String, @Nullable Object> json(LockParticipant party) {
    ClientInfo client = party.client();
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("session", AttemptId.parse(party.attempt()).session().value());
    json.put("host", client == null ? null : client.host());
    json.put("pid", client == null || client.pid() == 0 ? null : client.pid());
    json.put("client", client == null ? null : client.name());
    json.put("label", party.label());
    json.put("mode", party.share().toString());
    json.put("permits", party.share().permits() == 0 ? null : party.share().permits());
    json.put("token", jsonToken(party.token()));
    json.put("sinceMillis", jsonAge(party.since()));
    json.put(
        "sessionLeftMillis", party.sessionLeft() == null ? null : party.sessionLeft().toMillis());
    json.put("ttlMillis", party.sessionTtl().isZero() ? null : party.sessionTtl().toMillis());
    json.put("renewedAgoMillis", party.renewedAgo() == null ? null : party.renewedAgo().toMillis());
    json.put("atMostLeftMillis", party.atMostLeft() == null ? null : party.atMostLeft().toMillis());
    json.put("evicted", party.renewedAgo() == null ? null : isEvicted(party));
    json.put("attempt", attempt(party.attempt()));
    json.put("sticky", party.sticky());
    return json;
  }

  /** {@code host:pid}, with a note if its process is gone, or seems to be. */
  public static String client(LockParticipant party) {
    ClientInfo client = party.client();
    String silence = silence(party);
    if (isGone(party)) {
      return goneHolder(client, Duration.ZERO);
    }
    return (client == null ? UNKNOWN_CLIENT : client(client))
        + (silence.isEmpty() ? "" : " (" + silence + ")");
  }

  /** {@code host:pid}. */
  public static String client(ClientInfo client) {
    String host = OutputSanitizer.text(client.host());
    if (client.pid() == 0) {
      return host.isEmpty() || host.equals("-") ? UNKNOWN_CLIENT : host;
    }
    return host + ":" + client.pid();
  }

  /**
   * The form of an attempt in tables, JSON and logs. The library's own form has runs of dashes for
   * zeros.
   */
  public static String attempt(String encoded) {
    return AttemptId.parse(encoded).toString();
  }

  /** The age of a hold or wait; null if not reported. */
  public static @Nullable Long jsonAge(Duration since) {
    return since.isZero() ? null : since.toMillis();
  }

  /**
   * A token as text, since JavaScript rounds numbers of more than 53 bits; null if there is none.
   */
  public static @Nullable String jsonToken(long token) {
    return token == 0 ? null : Long.toString(token);
  }
}
