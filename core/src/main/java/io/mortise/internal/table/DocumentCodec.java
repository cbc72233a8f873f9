package io.mortise.internal.table;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.internal.storekit.NotificationBuffer;
import io.mortise.internal.table.LockRecord.EndedAttempt;
import io.mortise.internal.table.LockRecord.HoldEntry;
import io.mortise.internal.table.LockRecord.WaiterEntry;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal.NumberedNotification;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Documents as text. Each line is a part of the document, its fields are separated by tabs; texts
 * of people come last in a line, and have no control characters. The first line names the format.
 * Times are microseconds of the store's clock.
 */
public final class DocumentCodec {
  private static final String LOCK = "lock1";
  private static final String SESSION = "session2";
  private static final String FACT = "fact1";
  private static final String NONE = "-";

  private DocumentCodec() {}

  /** A lock's document as text. */
  public static String encode(LockDocument lock) {
    StringJoiner lines = new StringJoiner("\n");
    lines.add(
        line(LOCK, lock.capacity, lock.lastToken, lock.nextTicket, lock.shutUntil, lock.touched));
    EndedAttempt end = lock.lastEnd;
    if (end != null) {
      lines.add(line("end", end.attempt().encoded(), end.was(), end.how()));
    }
    lock.holders.values().forEach(hold -> lines.add(encode(hold)));
    lock.queue.values().forEach(waiter -> lines.add(encode(waiter)));
    return lines.toString();
  }

  private static String encode(HoldEntry hold) {
    return line(
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

  private static String encode(WaiterEntry waiter) {
    Request.Acquire request = waiter.request();
    return line(
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
    try {
      return text == null ? null : decodeLock(name, text);
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw unreadable("lock/" + name.value(), e);
    }
  }

  private static LockDocument decodeLock(LockName name, String text) {
    String[] lines = text.split("\n", -1);
    Fields first = new Fields(lines[0]);
    check("lock/" + name.value(), LOCK, first.text());
    LockDocument lock = new LockDocument(name, (int) first.number());
    lock.lastToken = first.number();
    lock.nextTicket = first.number();
    lock.shutUntil = first.number();
    lock.touched = first.number();
    for (int i = 1; i < lines.length; i++) {
      decodePart(lock, new Fields(lines[i]));
    }
    lock.waiters = lock.queue.size();
    return lock;
  }

  private static void decodePart(LockDocument lock, Fields fields) {
    String part = fields.text();
    AttemptId attempt = fields.attempt();
    if (part.equals("end")) {
      lock.lastEnd = new EndedAttempt(attempt, AttemptState.valueOf(fields.text()), fields.end());
      return;
    }
    long since = fields.number();
    if (part.equals("hold")) {
      HoldEntry hold = hold(attempt, since, fields);
      lock.holders.put(attempt, hold);
      lock.used += hold.weight;
    } else if (part.equals("wait")) {
      long ticket = fields.number();
      Request.Acquire request = waiting(lock, attempt, fields);
      lock.queue.put(ticket, new WaiterEntry(request, ticket, since));
      lock.tickets.put(attempt, ticket);
    } else {
      throw new IllegalArgumentException("Unknown part '" + part + "'.");
    }
  }

  private static HoldEntry hold(AttemptId attempt, long since, Fields fields) {
    int weight = (int) fields.number();
    long token = fields.number();
    int tokens = (int) fields.number();
    long atMostUntil = fields.number();
    long atLeastUntil = fields.number();
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
    Mode mode = new Mode((int) fields.number(), lock.capacity);
    int tokens = (int) fields.number();
    long floor = fields.number();
    HoldTerms terms = new HoldTerms(fields.time(), fields.time(), fields.text());
    return new Request.Acquire(lock.name, attempt, mode, true, terms, tokens, floor, null);
  }

  /** A session's document as text. */
  public static String encode(SessionDocument session) {
    StringJoiner lines = new StringJoiner("\n");
    lines.add(
        line(
            SESSION,
            session.beat,
            session.renewals,
            session.ttl,
            session.expiresAt,
            session.ended,
            session.notifications.next(),
            session.client.encoded()));
    if (!session.ended) {
      session.notifications().forEach(item -> lines.add(encode(item.id(), item.notification())));
    }
    return lines.toString();
  }

  private static String encode(long id, SessionNotification notification) {
    String attempt = notification.attempt().encoded();
    LockName name = notification.name();
    if (notification instanceof SessionNotification.Granted granted) {
      return line(
          "granted",
          id,
          attempt,
          granted.token(),
          granted.tokens(),
          granted.wanted(),
          granted.timed(),
          name);
    }
    return notification instanceof SessionNotification.HoldEnded ended
        ? line("ended", id, attempt, ended.how(), name)
        : line("contended", id, attempt, name);
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
    long beat = fields.number();
    long renewals = fields.number();
    long ttl = fields.number();
    long expiresAt = fields.number();
    boolean ended = fields.flag();
    long next = fields.number();
    ClientLabel client = ClientLabel.parse(fields.text());
    List<NumberedNotification> notifications = new ArrayList<>();
    for (int i = 1; i < lines.length; i++) {
      notifications.add(notification(new Fields(lines[i])));
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

  private static NumberedNotification notification(Fields fields) {
    String kind = fields.text();
    long id = fields.number();
    AttemptId attempt = fields.attempt();
    return new NumberedNotification(id, notification(kind, attempt, fields));
  }

  private static SessionNotification notification(String kind, AttemptId attempt, Fields fields) {
    if (kind.equals("granted")) {
      long token = fields.number();
      int tokens = (int) fields.number();
      boolean wanted = fields.flag();
      boolean timed = fields.flag();
      return new SessionNotification.Granted(fields.name(), attempt, token, tokens, wanted, timed);
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
    return line(FACT, fact.version(), fact.until(), fact.keep(), fact.content());
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
    return new FactDocument(fields.number(), fields.number(), fields.number(), fields.text());
  }

  private static void check(String key, String expected, String found) {
    if (!found.equals(expected)) {
      throw new StoreUnfitException(
          "Document '%s' in the store has the format '%s', which this version of Mortise cannot read. It reads '%s'. Use one version in all processes, or another namespace."
              .formatted(key, found, expected));
    }
  }

  private static StoreUnfitException unreadable(String key, RuntimeException cause) {
    return new StoreUnfitException(
        "Document '%s' in the store cannot be read. Another program or another version of Mortise has written it, or it was cut off. Use one version in all processes, or another namespace."
            .formatted(key),
        cause);
  }

  private static String line(Object... fields) {
    StringJoiner line = new StringJoiner("\t");
    for (Object field : fields) {
      line.add(field.toString());
    }
    return line.toString();
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

    long number() {
      return Long.parseLong(text());
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
