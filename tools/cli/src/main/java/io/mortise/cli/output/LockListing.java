package io.mortise.cli.output;

import io.mortise.admin.EndedHold;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.time.DurationText;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Many locks in a table, or one lock with all details. */
public final class LockListing {
  private static final List<String> LOCKS =
      List.of("NAME", "HOLDER", "CLIENT", "MODE", "AGE", "WAITING", "TOKEN", "LABEL");
  private static final List<String> PARTIES =
      List.of("PLACE", "WHO", "CLIENT", "MODE", "FOR", "SINCE", "SESSION", "ATTEMPT", "LABEL");
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
  private static final DateTimeFormatter DAY =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT);

  private LockListing() {}

  /**
   * Returns one line per lock below a line of headings.
   *
   * @param columns the width of a line
   */
  public static List<String> lines(List<LockInfo> locks, int columns) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(LOCKS);
    locks.forEach(lock -> rows.add(row(lock)));
    return TextTable.lines(rows, columns);
  }

  private static List<String> row(LockInfo lock) {
    String name = OutputSanitizer.text(lock.name());
    String waiting = Integer.toString(lock.waiterCount());
    if (lock.holders().isEmpty()) {
      return List.of(name, nobody(lock), "-", "-", "-", waiting, "-", "");
    }
    LockParticipant first = lock.holders().get(0);
    int more = lock.holders().size() - 1;
    String who =
        LockFormatter.condition(lock) == LockFormatter.Condition.GONE
            ? LockFormatter.goneHolder(first.client(), lock.shutFor())
            : LockFormatter.client(first);
    return List.of(
        name,
        who + (more == 0 ? "" : " +" + more),
        client(first),
        mode(first),
        age(first),
        waiting,
        first.token() == 0 ? "-" : Long.toString(first.token()),
        OutputSanitizer.text(first.label()));
  }

  private static String nobody(LockInfo lock) {
    return switch (lock.state()) {
      case SHUT -> "(" + shut(lock) + ")";
      case CHANGING_HANDS -> "(changing hands)";
      case HELD, FREE -> "-";
    };
  }

  private static String shut(LockInfo lock) {
    return "shut for " + DurationText.format(lock.shutFor());
  }

  /**
   * Returns all details of one lock.
   *
   * @param now the time in the reader's zone
   * @param columns the width of a line
   */
  public static List<String> details(LockInfo lock, ZonedDateTime now, int columns) {
    List<String> lines = new ArrayList<>();
    lines.add(TextWidth.cut(OutputSanitizer.text(lock.name()) + ": " + state(lock), columns));
    List<List<String>> rows = new ArrayList<>();
    rows.add(PARTIES);
    lock.holders().forEach(holder -> rows.add(row("holder", holder, now)));
    for (int i = 0; i < lock.waiters().size(); i++) {
      rows.add(row("waiter " + (i + 1), lock.waiters().get(i), now));
    }
    if (rows.size() > 1) {
      TextTable.lines(rows, columns - 2).forEach(line -> lines.add("  " + line));
    }
    int unlisted = lock.waiterCount() - lock.waiters().size();
    if (unlisted > 0) {
      lines.add("  and " + unlisted + " more waiting");
    }
    tokens(lock).forEach(line -> lines.add("  " + line));
    EndedHold end = lock.lastEnd();
    if (end != null) {
      lines.add(
          "  last end      "
              + LockFormatter.cause(end)
              + " (attempt "
              + LockFormatter.attempt(end.attempt())
              + ")");
    }
    String hint = hint(lock.name());
    if (LockFormatter.condition(lock) == LockFormatter.Condition.FREE && !hint.isEmpty()) {
      lines.add(hint);
    }
    return lines;
  }

  private static List<String> row(String place, LockParticipant party, ZonedDateTime now) {
    String session = LockFormatter.session(party);
    return List.of(
        place,
        LockFormatter.client(party),
        client(party),
        mode(party),
        age(party),
        since(party, now),
        party.atMostLeft() == null || LockFormatter.isEvicted(party)
            ? session
            : session + ", at most " + DurationText.format(party.atMostLeft()),
        LockFormatter.attempt(party.attempt()),
        OutputSanitizer.text(party.label()));
  }

  /** The name that the client announces. */
  private static String client(LockParticipant party) {
    String name = party.client() == null ? "" : OutputSanitizer.text(party.client().name());
    return name.isEmpty() ? "-" : name;
  }

  /** The mode. A sticky lock may be idle: its process releases it as soon as another wants it. */
  private static String mode(LockParticipant party) {
    return party.share() + (party.sticky() ? ", sticky" : "");
  }

  /** A hint about a name of something other than a lock; empty for a lock's name. */
  public static String hint(String name) {
    if (name.startsWith("latch/")) {
      return "A latch is no lock: it is a document that only its parties read. There,"
          + " DistributedLatch.remaining() tells how many are missing.";
    }
    if (name.matches("barrier/[^/]+")) {
      return "A barrier is a lock for moments only. Each party has one while it is there: mortise ls "
          + OutputSanitizer.text(name)
          + "/";
    }
    return "";
  }

  private static List<String> tokens(LockInfo lock) {
    List<String> lines = new ArrayList<>();
    long greatest = 0;
    for (LockParticipant holder : lock.holders()) {
      if (holder.token() != 0) {
        lines.add((lines.isEmpty() ? "token         " : "              ") + holder.token());
        greatest = Math.max(greatest, holder.token());
      }
    }
    if (lock.lastToken() > greatest) {
      lines.add(
          greatest == 0
              ? "last token    " + lock.lastToken()
              : "tokens up to  "
                  + lock.lastToken()
                  + " (minted ahead, for hand-overs inside the holder's process)");
    }
    return lines;
  }

  private static String state(LockInfo lock) {
    return switch (LockFormatter.condition(lock)) {
      case HELD -> "held by " + lock.holders().size() + ", " + waiting(lock);
      case GONE -> LockFormatter.gone(lock) + ", " + waiting(lock);
      case SHUT -> shut(lock) + ", " + waiting(lock);
      case CHANGING_HANDS -> "changing hands, " + waiting(lock);
      // Unused and mistyped names look like this.
      case FREE -> lock.lastToken() == 0 && lock.lastEnd() == null ? "no record of it" : "free";
    };
  }

  private static String waiting(LockInfo lock) {
    return lock.waiterCount() + " waiting";
  }

  private static String age(LockParticipant party) {
    return party.since().isZero() ? "-" : DurationText.format(party.since());
  }

  private static String since(LockParticipant party, ZonedDateTime now) {
    if (party.since().isZero()) {
      return "-";
    }
    ZonedDateTime began = now.minus(party.since()).truncatedTo(ChronoUnit.SECONDS);
    return began.toLocalDate().equals(now.toLocalDate()) ? TIME.format(began) : DAY.format(began);
  }
}
