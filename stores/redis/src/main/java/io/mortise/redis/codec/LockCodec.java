package io.mortise.redis.codec;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.admin.Eviction;
import io.mortise.internal.runtime.FailureText;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.internal.session.Refusals;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** The arguments and answers of lock.lua, whose head defines them. */
public final class LockCodec {
  /** Above it numbers in Lua are no longer exact. */
  public static final long MAX_FLOOR = (1L << 53) - 2 * Request.MAX_TOKENS;

  /** First character of an answer that too few replicas acknowledged in time. */
  public static final char UNSURE = 'U';

  private static final int ATTEMPT = AttemptId.LENGTH;

  private LockCodec() {}

  public static String encode(Request request) {
    if (request instanceof Request.Acquire acquire) {
      return encode(acquire);
    } else if (request instanceof Request.Abandon abandon) {
      return "r" + abandon.attempt().encoded();
    }
    Request.Adjust adjust = (Request.Adjust) request;
    return "j"
        + adjust.attempt().encoded()
        + digits(adjust.tokens(), 4)
        + mode(adjust.mode())
        + micros(adjust.terms().atMost())
        + micros(adjust.terms().atLeast())
        + digits(adjust.tokenFloor(), 16);
  }

  private static String encode(Request.Acquire acquire) {
    HoldTerms terms = acquire.terms();
    SessionId dead = acquire.provenDead();
    String start =
        acquire.attempt().encoded() + (acquire.queue() ? '1' : '0') + digits(acquire.tokens(), 4);
    if (acquire.mode().equals(Mode.EXCLUSIVE)
        && !terms.isTimed()
        && terms.label().isEmpty()
        && acquire.tokenFloor() == 0) {
      return "e" + start + (dead == null ? "" : dead.value());
    }
    return "a"
        + start
        + (dead == null ? "............" : dead.value())
        + mode(acquire.mode())
        + digits(acquire.tokenFloor(), 16)
        + micros(terms.atMost())
        + micros(terms.atLeast())
        + terms.label();
  }

  public static String encode(AttemptId attempt, Eviction how) {
    return "v" + attempt.encoded() + (how == Eviction.CLOSE ? 'C' : 'B');
  }

  private static String mode(Mode mode) {
    return digits(mode.weight(), 7) + digits(mode.capacity(), 7);
  }

  private static String micros(@Nullable Duration time) {
    return digits(time == null ? 0 : Math.max(1, time.toNanos() / 1000), 16);
  }

  /** Decimal digits of fixed width. */
  public static String digits(long number, int width) {
    String text = Long.toString(number);
    return "0".repeat(width - text.length()) + text;
  }

  /** The script's answer to a request on a lock; {@code key} holds its record. */
  public static Reply decode(
      AttemptId attempt, LockName name, String key, String store, String text) {
    return switch (text.charAt(0)) {
      case 'G' ->
          new Reply.Granted(
              attempt,
              number(text, 1, 17),
              (int) number(text, 17, 21),
              text.charAt(21) == '1',
              text.length() > 22 ? time(text, 22) : null,
              null);
      case 'Q' -> new Reply.Queued(attempt, (int) number(text, 1, 8), holder(text), time(text, 8));
      case 'B' -> new Reply.Busy(attempt, holder(text), time(text, 8));
      case 'E' ->
          new Reply.Ended(attempt, was(text.charAt(1)), how(text.charAt(1)), text.charAt(2) == '1');
      case 'L' ->
          new Reply.Failed(
              attempt,
              false,
              new StoreUnavailableException(
                  "The request for lock '%s' reached Redis too late to be executed (store=%s)."
                      .formatted(name, store)));
      case UNSURE ->
          new Reply.Failed(
              attempt,
              true,
              new StoreUnavailableException(
                  "Redis granted lock '%s', but only %s (store=%s). Check the replicas, or lower 'wait-replicas'."
                      .formatted(name, text.substring(1), store)));
      case 'X' -> new Reply.Failed(attempt, false, trouble(name, key, store, text.substring(1)));
      default -> refused(attempt, name, store, text);
    };
  }

  /** Whether an operation of lock.lua may be answered by a grant. */
  public static boolean mayGrant(String operation) {
    char kind = operation.charAt(0);
    return kind == 'e' || kind == 'a' || kind == 'j';
  }

  private static Reply.Refused refused(
      AttemptId attempt, LockName name, String store, String text) {
    return switch (text.charAt(0)) {
      case 'S' -> Refusals.sessionGone(attempt);
      case 'D' -> Refusals.ended(attempt, how(text.charAt(1)));
      case 'C' -> Refusals.capacityDiffers(attempt, name, (int) number(text, 1, 8));
      case 'N' -> Refusals.notHeld(attempt, name);
      case 'W' -> Refusals.cannotWiden(attempt, name);
      case 'F' ->
          new Reply.Refused(
              attempt,
              RefusalReason.STORE_FULL,
              "Redis has reached maxmemory and takes no new locks (store=%s). Raise maxmemory or remove keys."
                  .formatted(store));
      default ->
          throw new IllegalArgumentException("Unknown answer '" + FailureText.quoted(text) + "'.");
    };
  }

  public static RuntimeException trouble(LockName name, String key, String store, String error) {
    if (error.contains("WRONGTYPE") || error.contains("not one of ours")) {
      return new StoreUnfitException(
          "A key of lock '%s' holds something that Mortise did not write (store=%s, key=%s). Choose another namespace, or remove the key."
              .formatted(name, store, key));
    }
    ErrorReplyException reply = new ErrorReplyException(error);
    String refused = reply.refusedCommand();
    if (refused != null
        || error.contains("Unknown Redis command")
        || error.contains("can't run this command")) {
      return new StoreUnfitException(
          "The server refuses %s, which the scripts use, for lock '%s' (store=%s): %s. Allow all commands of the store's page to this user under their own names."
              .formatted(
                  refused == null ? "a command" : "the command " + refused,
                  name,
                  store,
                  reply.getMessage()));
    }
    return new StoreUnavailableException(
        "Redis refused a request for lock '%s' (store=%s): %s"
            .formatted(name, store, reply.getMessage()));
  }

  /** The server time at which a request was read too late; 0 for other answers. */
  public static long lateAt(String text) {
    return text.charAt(0) == 'L' ? number(text, 1, 17) : 0;
  }

  private static Reply.@Nullable Holder holder(String text) {
    if (text.length() == 24) {
      return null;
    }
    return new Reply.Holder(
        AttemptId.parse(text.substring(24, 24 + ATTEMPT)),
        number(text, 24 + ATTEMPT, 40 + ATTEMPT),
        time(text, 40 + ATTEMPT));
  }

  private static AttemptState was(char end) {
    return switch (end) {
      case 'R', 'X', 'V', 'T' -> AttemptState.HELD;
      case 'r', 'v' -> AttemptState.WAITING;
      default -> AttemptState.ABSENT;
    };
  }

  private static EndReason how(char end) {
    return switch (end) {
      case 'R', 'r' -> EndReason.RELEASED;
      case 'X' -> EndReason.EXPIRED;
      case 'V', 'v' -> EndReason.EVICTED;
      case 'T' -> EndReason.TAKEN;
      default -> EndReason.UNKNOWN;
    };
  }

  public static SessionNotification notification(String text) {
    AttemptId attempt = AttemptId.parse(text.substring(1, 1 + ATTEMPT));
    int at = 1 + ATTEMPT;
    return switch (text.charAt(0)) {
      case 'G' ->
          new SessionNotification.HoldGranted(
              LockName.of(text.substring(at + 22)),
              attempt,
              number(text, at, at + 16),
              (int) number(text, at + 16, at + 20),
              text.charAt(at + 20) == '1',
              text.charAt(at + 21) == '1');
      case 'W' -> new SessionNotification.Contended(LockName.of(text.substring(at)), attempt);
      case 'X' ->
          new SessionNotification.HoldEnded(
              LockName.of(text.substring(at + 1)), attempt, how(text.charAt(at)));
      default -> throw new IllegalArgumentException("Unknown notification.");
    };
  }

  public static long number(String text, int from, int to) {
    return Long.parseLong(text, from, to, 10);
  }

  private static Duration time(String text, int from) {
    return Duration.of(number(text, from, from + 16), ChronoUnit.MICROS);
  }
}
