package io.mortise.cli.output;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.spi.time.DurationText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Shows locks to people, as text without anything that a terminal would obey, and to programs. */
public final class LockFormatter {
  private static final List<String> COLUMNS =
      List.of("NAME", "HOLDER", "TOKEN", "AGE", "WAITING", "LABEL");

  private LockFormatter() {}

  /** Who holds, for how long, how many wait; to be set behind a clause, with the full stop. */
  public static String situation(LockInfo lock) {
    StringBuilder text = new StringBuilder();
    if (lock.holders().isEmpty()) {
      text.append(
          lock.shutFor().isZero() ? "" : ": closed for " + DurationText.format(lock.shutFor()));
    } else {
      LockParticipant holder = lock.holders().get(0);
      text.append(": held by ").append(client(holder));
      if (lock.holders().size() > 1) {
        text.append(" and ").append(lock.holders().size() - 1).append(" more");
      }
      text.append(" for ").append(DurationText.format(holder.since()));
      if (!holder.label().isEmpty()) {
        text.append(" (").append(OutputSanitizer.text(holder.label())).append(')');
      }
    }
    if (!lock.waiters().isEmpty()) {
      text.append(text.length() == 0 ? ": " : ", ")
          .append(lock.waiters().size())
          .append(" waiting");
    }
    return text.append('.').toString();
  }

  /** One line per lock below a line of headings. */
  public static List<String> table(List<LockInfo> locks) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(COLUMNS);
    for (LockInfo lock : locks) {
      rows.add(row(lock));
    }
    int[] widths = new int[COLUMNS.size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], width(row.get(i)));
      }
    }
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < widths.length; i++) {
        line.append(row.get(i)).append(" ".repeat(widths[i] - width(row.get(i)) + 2));
      }
      lines.add(line.toString().stripTrailing());
    }
    return lines;
  }

  private static List<String> row(LockInfo lock) {
    String who;
    String token = "-";
    String age = "-";
    String label = "";
    if (lock.holders().isEmpty()) {
      who =
          lock.shutFor().isZero()
              ? "-"
              : "(closed for " + DurationText.format(lock.shutFor()) + ")";
    } else {
      LockParticipant first = lock.holders().get(0);
      int more = lock.holders().size() - 1;
      who = client(first) + (more == 0 ? "" : " +" + more);
      token = token(first.token());
      age = DurationText.format(first.since());
      label = OutputSanitizer.text(first.label());
    }
    return List.of(
        OutputSanitizer.text(lock.name()),
        who,
        token,
        age,
        Integer.toString(lock.waiters().size()),
        label);
  }

  /** All that is known of one lock. */
  public static List<String> details(LockInfo lock) {
    List<String> lines = new ArrayList<>();
    lines.add(OutputSanitizer.text(lock.name()) + ": " + state(lock));
    if (!lock.shutFor().isZero()) {
      lines.add("  closed       for " + DurationText.format(lock.shutFor()));
    }
    for (LockParticipant holder : lock.holders()) {
      lines.add(
          "  holder       "
              + client(holder)
              + ", "
              + holder.share()
              + (holder.sticky() ? ", sticky (perhaps idle)" : "")
              + ", for "
              + DurationText.format(holder.since())
              + (holder.token() == 0 ? "" : ", token " + holder.token())
              + rest(holder));
    }
    int place = 1;
    for (LockParticipant waiter : lock.waiters()) {
      lines.add(
          String.format("  waiter %-6s", place++)
              + client(waiter)
              + ", "
              + waiter.share()
              + ", for "
              + DurationText.format(waiter.since())
              + rest(waiter));
    }
    if (lock.lastToken() != 0) {
      lines.add("  last token   " + lock.lastToken());
    }
    return lines;
  }

  /** For programs. Tokens are strings: they pass what a double can hold. */
  public static Map<String, @Nullable Object> json(LockInfo lock) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("name", lock.name());
    json.put("state", lock.holders().isEmpty() ? state(lock) : "held");
    json.put("permits", lock.permits().isPresent() ? lock.permits().getAsInt() : null);
    json.put("lastToken", jsonToken(lock.lastToken()));
    json.put("closedForMillis", lock.shutFor().toMillis());
    json.put("holders", lock.holders().stream().map(LockFormatter::json).toList());
    json.put("waiters", lock.waiters().stream().map(LockFormatter::json).toList());
    return json;
  }

  private static Map<String, @Nullable Object> json(LockParticipant party) {
    ClientInfo client = party.client();
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("host", client == null ? null : client.host());
    json.put("pid", client == null ? null : client.pid());
    json.put("client", client == null ? null : client.name());
    json.put("label", party.label());
    json.put("mode", party.share().toString());
    json.put("permits", party.share().permits() == 0 ? null : party.share().permits());
    json.put("token", jsonToken(party.token()));
    json.put("sinceMillis", party.since().toMillis());
    json.put("sessionLeftMillis", party.sessionLeft().toMillis());
    json.put("atMostLeftMillis", party.atMostLeft() == null ? null : party.atMostLeft().toMillis());
    json.put("attempt", party.attempt());
    json.put("sticky", party.sticky());
    return json;
  }

  /** {@code host:pid}. */
  public static String client(LockParticipant party) {
    ClientInfo client = party.client();
    return client == null
        ? "(session gone)"
        : OutputSanitizer.text(client.host()) + (client.pid() == 0 ? "" : ":" + client.pid());
  }

  private static String state(LockInfo lock) {
    if (!lock.holders().isEmpty()) {
      return "held by " + lock.holders().size() + ", " + lock.waiters().size() + " waiting";
    }
    if (!lock.shutFor().isZero()) {
      return "closed";
    }
    return lock.waiters().isEmpty() ? "free" : "changing hands";
  }

  private static String rest(LockParticipant party) {
    StringBuilder text = new StringBuilder();
    text.append(
        party.sessionLeft().isZero()
            ? ", its session is over"
            : ", dead in " + DurationText.format(party.sessionLeft()) + " if not renewed");
    if (party.atMostLeft() != null) {
      text.append(", at most ").append(DurationText.format(party.atMostLeft())).append(" more");
    }
    if (!party.label().isEmpty()) {
      text.append(", label '").append(OutputSanitizer.text(party.label())).append('\'');
    }
    return text.append(", attempt ").append(party.attempt()).toString();
  }

  private static String token(long token) {
    return token == 0 ? "-" : Long.toString(token);
  }

  private static @Nullable String jsonToken(long token) {
    return token == 0 ? null : Long.toString(token);
  }

  private static int width(String text) {
    return text.codePointCount(0, text.length());
  }
}
