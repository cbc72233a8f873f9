package io.mortise.support.table;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal.NumberedNotification;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.support.internal.session.NotificationBuffer;
import io.mortise.support.table.LockRecord.AtLeastTime;
import io.mortise.support.table.LockRecord.EndedAttempt;
import io.mortise.support.table.LockRecord.HoldEntry;
import io.mortise.support.table.LockRecord.WaiterEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Documents as text. Each line is a part of the document, with its fields separated by tabs; users'
 * texts come last in a line, and have no control characters. The first line names the format. Times
 * are microseconds of the store's clock.
 *
 * <p>A line with an additional field has another format. Its document is refused, since the next
 * step would write it without that field.
 *
 * <p>Another program may have written a document. So each number is checked when it is parsed:
 * steps calculate with any document that was decoded.
 */
public final class DocumentCodec {
  private static final String LOCK = "lock1";
  private static final String SESSION = "session2";
  private static final String FACT = "fact1";
  private static final String NONE = "-";

  /** The sum and the difference of two such times fit into a long of nanoseconds. */
  private static final long FARTHEST_MICROS = Long.MAX_VALUE / 1_000 / 2;

  /** A counter that starts from here cannot overflow a long. */
  private static final long HIGHEST_COUNT = Long.MAX_VALUE / 2;

  /** The next block of tokens ends within a long. */
  private static final long HIGHEST_TOKEN = Long.MAX_VALUE - Request.MAX_TOKENS - 1;

  private DocumentCodec() {}

  /** A lock's document as text. */
  public static String encode(LockDocument lock) {
    DocumentLines lines = new DocumentLines();
    lines.add(LOCK, lock.capacity, lock.lastToken, lock.nextTicket, lock.shutUntil, lock.touched);
    if (lock.split != 0) {
      lines.add("split", lock.split);
    }
    EndedAttempt end = lock.lastEnd;
    if (end != null) {
      lines.add("end", end.attempt().encoded(), end.was(), end.how());
    }
    for (HoldEntry hold : lock.holders.values()) {
      encode(hold, lines);
      encode("least", hold.attempt, hold.atLeast, lines);
    }
    lock.shutBy.forEach((attempt, time) -> encode("shut", attempt, time, lines));
    lock.queue.values().forEach(waiter -> encode(waiter, lines));
    return lines.toString();
  }

  private static void encode(HoldEntry hold, DocumentLines lines) {
    lines.add(
        "hold",
        hold.attempt.encoded(),
        hold.since,
        hold.weight,
        hold.token,
        hold.tokens,
        hold.atMostUntil,
        hold.atLeastUntil,
        hold.told,
        hold.noted,
        hold.evicted,
        hold.label);
  }

  private static void encode(
      String kind, AttemptId attempt, @Nullable AtLeastTime time, DocumentLines lines) {
    if (time != null) {
      lines.add(kind, attempt.encoded(), time.start(), LockRecord.micros(time.length()));
    }
  }

  private static void encode(WaiterEntry waiter, DocumentLines lines) {
    Request.Acquire request = waiter.request();
    lines.add(
        "wait",
        waiter.attempt().encoded(),
        waiter.since(),
        waiter.ticket(),
        request.mode().weight(),
        request.tokens(),
        request.tokenFloor(),
        time(request.terms().atMost()),
        time(request.terms().atLeast()),
        request.terms().label());
  }

  /**
   * The reverse of {@link #encode(LockDocument)}; null if there is no text.
   *
   * @throws StoreUnfitException if the text is of another format
   */
  public static @Nullable LockDocument decode(LockName name, @Nullable String text) {
    return decode("lock/" + name.value(), name, text);
  }

  /**
   * As {@link #decode(LockName, String)}, for a document of another key.
   *
   * @param key names the document in messages
   */
  public static @Nullable LockDocument decode(String key, LockName name, @Nullable String text) {
    try {
      return text == null ? null : decodeLock(key, name, text);
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw unreadable(key, e);
    }
  }

  private static LockDocument decodeLock(String key, LockName name, String text) {
    String[] lines = text.split("\n", -1);
    Fields first = new Fields(lines[0]);
    check(key, LOCK, first.text());
    LockDocument lock = new LockDocument(name, first.count(1, Mode.SHARERS));
    lock.lastToken = first.number(0, HIGHEST_TOKEN);
    lock.nextTicket = first.number(0, HIGHEST_COUNT);
    lock.shutUntil = first.moment();
    lock.touched = first.moment();
    first.checkEnd();
    for (int i = 1; i < lines.length; i++) {
      Fields fields = new Fields(lines[i]);
      decodePart(lock, fields);
      fields.checkEnd();
    }
    lock.waiters = lock.queue.size();
    return lock;
  }

  private static void decodePart(LockDocument lock, Fields fields) {
    String part = fields.text();
    if (part.equals("split")) {
      once(lock.split == 0 ? null : part);
      lock.split = fields.number(1, HIGHEST_COUNT);
      return;
    }
    AttemptId attempt = fields.attempt();
    if (part.equals("end")) {
      lock.lastEnd = new EndedAttempt(attempt, AttemptState.valueOf(fields.text()), fields.end());
      return;
    } else if (part.equals("least")) {
      HoldEntry hold = lock.holders.get(attempt);
      if (hold == null) {
        throw new IllegalArgumentException("The at-least time of no hold.");
      }
      once(hold.atLeast);
      hold.atLeast = fields.atLeast();
      return;
    } else if (part.equals("shut")) {
      once(lock.shutBy.put(attempt, fields.atLeast()));
      return;
    }
    long since = fields.moment();
    if (part.equals("hold")) {
      HoldEntry hold = hold(lock, attempt, since, fields);
      once(lock.holders.put(attempt, hold));
      lock.used += hold.weight;
    } else if (part.equals("wait")) {
      long ticket = fields.number(0, lock.nextTicket - 1);
      Request.Acquire request = waiting(lock, attempt, fields);
      once(lock.queue.put(ticket, new WaiterEntry(request, ticket, since)));
      once(lock.tickets.put(attempt, ticket));
    } else {
      throw new IllegalArgumentException("Unknown part '" + part + "'.");
    }
  }

  private static void once(@Nullable Object before) {
    if (before != null) {
      throw new IllegalArgumentException("A part stands there twice.");
    }
  }

  private static HoldEntry hold(LockDocument lock, AttemptId attempt, long since, Fields fields) {
    int weight = fields.count(1, lock.capacity);
    long token = fields.number(0, HIGHEST_TOKEN);
    int tokens = fields.count(0, Request.MAX_TOKENS);
    long atMostUntil = fields.momentOrNever();
    long atLeastUntil = fields.moment();
    boolean told = fields.flag();
    boolean noted = fields.flag();
    boolean evicted = fields.flag();
    HoldEntry hold = new HoldEntry(attempt, weight, fields.text(), since);
    hold.token = token;
    hold.tokens = tokens;
    hold.atMostUntil = atMostUntil;
    hold.atLeastUntil = atLeastUntil;
    hold.told = told;
    hold.noted = noted;
    hold.evicted = evicted;
    return hold;
  }

  private static Request.Acquire waiting(LockDocument lock, AttemptId attempt, Fields fields) {
    Mode mode = new Mode(fields.count(1, lock.capacity), lock.capacity);
    int tokens = fields.count(1, Request.MAX_TOKENS);
    long floor = fields.number(0, HIGHEST_COUNT);
    HoldTerms terms = new HoldTerms(fields.time(), fields.time(), fields.text());
    return new Request.Acquire(lock.name, attempt, mode, true, terms, tokens, floor, null);
  }

  /** A session's document as text. */
  public static String encode(SessionDocument session) {
    DocumentLines lines = new DocumentLines();
    lines.add(
        SESSION,
        session.beat,
        session.renewals,
        session.ttl,
        session.expiresAt,
        session.ended,
        session.notifications.next(),
        session.client.encoded());
    if (!session.ended) {
      session.notifications().forEach(item -> encode(item.id(), item.notification(), lines));
    }
    return lines.toString();
  }

  private static void encode(long id, SessionNotification notification, DocumentLines lines) {
    String attempt = notification.attempt().encoded();
    String name = notification.name().value();
    if (notification instanceof SessionNotification.HoldGranted granted) {
      lines.add(
          "granted",
          id,
          attempt,
          granted.token(),
          granted.tokens(),
          granted.wanted(),
          granted.timed(),
          name);
    } else if (notification instanceof SessionNotification.HoldEnded ended) {
      lines.add("ended", id, attempt, ended.how(), name);
    } else {
      lines.add("contended", id, attempt, name);
    }
  }

  /**
   * The reverse of {@link #encode(SessionDocument)}; null if there is no text.
   *
   * @param key names the document in messages
   * @throws StoreUnfitException if the text is of another format
   */
  public static @Nullable SessionDocument decodeSession(String key, @Nullable String text) {
    try {
      return text == null ? null : parseSession(key, text);
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw unreadable(key, e);
    }
  }

  private static SessionDocument parseSession(String key, String text) {
    String[] lines = text.split("\n", -1);
    Fields fields = new Fields(lines[0]);
    check(key, SESSION, fields.text());
    long beat = fields.number(Long.MIN_VALUE, Long.MAX_VALUE);
    long renewals = fields.number(0, HIGHEST_COUNT);
    long ttl = fields.number(1, FARTHEST_MICROS);
    long expiresAt = fields.moment();
    boolean ended = fields.flag();
    long next = fields.number(1, HIGHEST_COUNT);
    ClientLabel client = ClientLabel.parse(fields.text());
    fields.checkEnd();
    List<NumberedNotification> notifications = new ArrayList<>();
    for (int i = 1; i < lines.length; i++) {
      notifications.add(notification(new Fields(lines[i]), next));
    }
    SessionDocument session =
        new SessionDocument(client, new NotificationBuffer(notifications, next), TableRules.ALL);
    session.beat = beat;
    session.renewals = renewals;
    session.ttl = ttl;
    session.expiresAt = expiresAt;
    session.ended = ended;
    return session;
  }

  private static NumberedNotification notification(Fields fields, long next) {
    String kind = fields.text();
    long id = fields.number(0, next - 1);
    AttemptId attempt = fields.attempt();
    SessionNotification told = notification(kind, attempt, fields);
    fields.checkEnd();
    return new NumberedNotification(id, told);
  }

  private static SessionNotification notification(String kind, AttemptId attempt, Fields fields) {
    if (kind.equals("granted")) {
      long token = fields.number(0, HIGHEST_TOKEN);
      int tokens = fields.count(0, Request.MAX_TOKENS);
      boolean wanted = fields.flag();
      boolean timed = fields.flag();
      return new SessionNotification.HoldGranted(
          fields.name(), attempt, token, tokens, wanted, timed);
    } else if (kind.equals("ended")) {
      EndReason how = fields.end();
      return new SessionNotification.HoldEnded(fields.name(), attempt, how);
    } else if (kind.equals("contended")) {
      return new SessionNotification.Contended(fields.name(), attempt);
    }
    throw new IllegalArgumentException("Unknown notification '" + kind + "'.");
  }

  /** A fact's document as text. */
  public static String encode(FactDocument fact) {
    DocumentLines lines = new DocumentLines();
    lines.add(FACT, fact.version(), fact.until(), fact.keep(), fact.content());
    return lines.toString();
  }

  /**
   * The reverse of {@link #encode(FactDocument)}; null if there is no text.
   *
   * @param key names the document in messages
   * @throws StoreUnfitException if the text is of another format
   */
  public static @Nullable FactDocument decodeFact(String key, @Nullable String text) {
    try {
      return text == null ? null : parseFact(key, new Fields(text));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw unreadable(key, e);
    }
  }

  private static FactDocument parseFact(String key, Fields fields) {
    check(key, FACT, fields.text());
    FactDocument fact =
        new FactDocument(
            fields.number(0, HIGHEST_COUNT),
            fields.moment(),
            fields.number(0, FARTHEST_MICROS),
            fields.text());
    fields.checkEnd();
    return fact;
  }

  private static void check(String key, String expected, String found) {
    if (!found.equals(expected)) {
      throw new StoreUnfitException(
          "Document '%s' in the store has the format '%s', which this version of Mortise cannot read. It reads '%s'. Use one version in all processes, or another namespace."
              .formatted(key, FailureText.quoted(found), expected));
    }
  }

  /** Reports an unreadable text of any length, which its parser may have quoted. */
  private static StoreUnfitException unreadable(String key, RuntimeException failure) {
    IllegalArgumentException cause =
        new IllegalArgumentException(FailureText.quoted(FailureText.said(failure)));
    cause.setStackTrace(failure.getStackTrace());
    return new StoreUnfitException(
        "Document '%s' in the store cannot be read. Another program or another version of Mortise has written it, or it was cut off. Use one version in all processes, or another namespace."
            .formatted(key),
        cause);
  }

  /** The lines of a document as they are written. */
  private static final class DocumentLines {
    private final StringBuilder text = new StringBuilder(256);

    void add(String kind, Object... fields) {
      text.append(text.isEmpty() ? "" : "\n").append(kind);
      for (Object field : fields) {
        text.append('\t').append(field);
      }
    }

    @Override
    public String toString() {
      return text.toString();
    }
  }

  private static String time(@Nullable Duration time) {
    return time == null ? NONE : Long.toString(LockRecord.micros(time));
  }

  /** The fields of a line, one after the other. */
  private static final class Fields {
    private final String[] all;
    private int next;

    Fields(String line) {
      all = line.split("\t", -1);
    }

    String text() {
      return all[next++];
    }

    void checkEnd() {
      if (next < all.length) {
        throw new IllegalArgumentException("Unknown field '" + all[next] + "'.");
      }
    }

    long number(long least, long most) {
      long number = Long.parseLong(text());
      if (number < least || number > most) {
        throw new IllegalArgumentException(
            "Number %s is not within %s and %s.".formatted(number, least, most));
      }
      return number;
    }

    int count(int least, int most) {
      return (int) number(least, most);
    }

    /** The time of day of a host may be before 1970. */
    long moment() {
      return number(-FARTHEST_MICROS, FARTHEST_MICROS);
    }

    long momentOrNever() {
      String moment = text();
      next--;
      return moment.equals(Long.toString(LockRecord.NEVER)) ? number(0, Long.MAX_VALUE) : moment();
    }

    AtLeastTime atLeast() {
      return new AtLeastTime(
          number(1, HIGHEST_COUNT), LockRecord.duration(number(0, FARTHEST_MICROS / 2)));
    }

    boolean flag() {
      String flag = text();
      return switch (flag) {
        case "true" -> true;
        case "false" -> false;
        default -> throw new IllegalArgumentException("Not a flag: '" + flag + "'.");
      };
    }

    AttemptId attempt() {
      return AttemptId.parse(text());
    }

    EndReason end() {
      return EndReason.valueOf(text());
    }

    LockName name() {
      return LockName.of(text());
    }

    @Nullable Duration time() {
      String time = text();
      return time.equals(NONE) ? null : LockRecord.duration(Long.parseLong(time));
    }
  }
}
