package io.mortise.console.internal.api;

import io.mortise.LockName;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.console.internal.http.ConsoleRequest;
import io.mortise.console.internal.http.RefusedException;
import io.mortise.console.observer.Observer;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.observer.SeenSession;
import io.mortise.console.observer.Trouble;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.LockFormatter.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A page of the lock list: filtered, then sorted, then cut. */
final class LockList {
  private static final int MOST = 200;
  private static final int USUAL = 100;

  private final Observer observer;
  private final String prefix;
  private final String text;
  private final List<String> states;
  private final String sort;
  private final int from;
  private final int limit;

  LockList(Observer observer, ConsoleRequest request) {
    Parameters parameters = new Parameters(request);
    this.observer = observer;
    this.prefix = parameters.text("prefix");
    this.text = parameters.text("q");
    this.sort = parameters.text("sort").isEmpty() ? "trouble" : parameters.text("sort");
    String state = parameters.text("state");
    this.states =
        state.isEmpty() || state.equals("all") ? List.of() : List.of(state.split(",", -1));
    this.from = (int) parameters.number("cursor", 0, 0, Integer.MAX_VALUE);
    this.limit = (int) parameters.number("limit", USUAL, 1, MOST);
    states.forEach(LockList::checkState);
    comparator();
  }

  /**
   * A lock with its sort keys.
   *
   * @param rank of its worst problem
   * @param held until the same time for all locks, like {@code waitedNanos}
   */
  private record Row(
      SeenLock lock,
      Condition condition,
      Set<Trouble> troubles,
      int rank,
      Duration held,
      long waitedNanos) {
    static Row of(SeenLock lock, Trouble.Finder finder, Instant now) {
      Set<Trouble> troubles = finder.of(lock);
      Duration waited = lock.waitedAt(now);
      return new Row(
          lock,
          finder.condition(lock),
          troubles,
          troubles.isEmpty() ? Trouble.NO_RANK : troubles.iterator().next().rank(),
          lock.heldAt(now),
          waited != null ? waited.toNanos() : lock.isWaited() ? 1 : 0);
    }
  }

  /** The first matches of the filter, in order. */
  private record Rows(List<Row> first, int total) {}

  /**
   * Collects the first rows only: sorting a long list would dominate the time.
   *
   * @param asks whether to ask the store for a text that may be the name of a lock unknown to
   *     surveys
   */
  private Rows rows(int most, boolean asks) {
    Trouble.Finder finder = new Trouble.Finder(observer);
    Instant now = observer.now();
    Predicate<SeenLock> matches = matcher();
    Comparator<Row> order = comparator();
    PriorityQueue<Row> best = new PriorityQueue<>(order.reversed());
    int total = 0;
    boolean exact = false;
    for (SeenLock lock : observer.locks()) {
      exact |= lock.name().equals(text);
      if (matches.test(lock)) {
        Row row = Row.of(lock, finder, now);
        if (isWanted(row)) {
          total++;
          add(best, row, order, most);
        }
      }
    }
    if (asks && !exact && from == 0 && isName(text) && text.startsWith(prefix)) {
      Row row = Row.of(observer.search(text), finder, now);
      if (row.condition() != Condition.FREE && isWanted(row)) {
        total++;
        add(best, row, order, most);
      }
    }
    List<Row> first = new ArrayList<>(best);
    first.sort(order);
    return new Rows(first, total);
  }

  /** Adds an element if it is among the first {@code most}; the queue is in reverse order. */
  static <T> void add(PriorityQueue<T> best, T element, Comparator<? super T> order, int most) {
    if (best.size() < most) {
      best.add(element);
    } else if (order.compare(element, best.element()) < 0) {
      best.remove();
      best.add(element);
    }
  }

  /**
   * Answers a single request. Blocks for the store if the text that is searched for may be the name
   * of a lock.
   */
  Map<String, @Nullable Object> answer() {
    return json(true);
  }

  /** The page from observed data only, for a stream, which repeats it with every change. */
  Map<String, @Nullable Object> seen() {
    return json(false);
  }

  private Map<String, @Nullable Object> json(boolean asks) {
    Rows rows = rows((int) Math.min((long) from + limit, Integer.MAX_VALUE), asks);
    List<Row> page = rows.first().subList(Math.min(from, rows.first().size()), rows.first().size());
    int end = from + page.size();
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("asOfAt", JsonParts.at(observer.survey().asOf()));
    json.put("complete", observer.survey().complete());
    json.put("total", rows.total());
    json.put("next", !page.isEmpty() && end < rows.total() ? Integer.toString(end) : null);
    json.put("locks", page.stream().map(this::line).toList());
    return json;
  }

  private Map<String, @Nullable Object> line(Row row) {
    SeenLock lock = row.lock();
    Duration held = lock.heldFor();
    Map<String, @Nullable Object> line = new LinkedHashMap<>();
    line.put("name", lock.name());
    line.put("state", row.condition().toString());
    line.put("trouble", Trouble.words(row.troubles()));
    line.put(
        "permits", lock.info().permits().isPresent() ? lock.info().permits().getAsInt() : null);
    line.put("holders", lock.holders());
    line.put("waiters", lock.waiters());
    line.put("first", first(observer, lock));
    line.put("heldMillis", held.isZero() ? null : held.toMillis());
    line.put("waitedMillis", JsonParts.millis(lock.waitedFor()));
    line.put("usualMillis", JsonParts.millis(observer.usual(lock.name())));
    line.put("shutForMillis", lock.info().shutFor().toMillis());
    line.put("asOfAt", JsonParts.at(lock.at()));
    return line;
  }

  /** The first holder, from a survey or an inspection. */
  static @Nullable Map<String, @Nullable Object> first(Observer observer, SeenLock lock) {
    String attempt = lock.firstAttempt();
    if (attempt == null) {
      return null;
    }
    LockParticipant party = lock.first();
    String session = SeenLock.session(attempt);
    Map<String, @Nullable Object> first = new LinkedHashMap<>();
    first.put("session", session);
    first.put("attempt", LockFormatter.attempt(attempt));
    JsonParts.putClient(first, client(observer, party, session));
    first.put("label", lock.firstLabel());
    first.put("mode", party == null ? null : party.share().toString());
    first.put("token", party == null ? null : LockFormatter.jsonToken(party.token()));
    return first;
  }

  private static @Nullable ClientInfo client(
      Observer observer, @Nullable LockParticipant party, String session) {
    if (party != null && party.client() != null) {
      return party.client();
    }
    SeenSession seen = observer.session(session);
    return seen == null ? null : seen.client();
  }

  /** All matches of the filter, for spreadsheets. */
  String csv() {
    StringBuilder csv =
        new StringBuilder(
            "name,state,trouble,holders,waiters,host,pid,client,label,mode,token,heldMillis,waitedMillis,"
                + "shutForMillis\r\n");
    for (Row row : rows(Integer.MAX_VALUE, true).first()) {
      Map<String, @Nullable Object> line = line(row);
      Map<String, @Nullable Object> first = first(observer, row.lock());
      List<@Nullable Object> cells = new ArrayList<>();
      cells.add(row.lock().name());
      cells.add(row.condition());
      cells.add(String.join(" ", Trouble.words(row.troubles())));
      cells.add(counted(row.lock().holders()));
      cells.add(counted(row.lock().waiters()));
      for (String key : List.of("host", "pid", "client", "label", "mode", "token")) {
        cells.add(first == null ? null : first.get(key));
      }
      for (String key : List.of("heldMillis", "waitedMillis", "shutForMillis")) {
        cells.add(line.get(key));
      }
      csv.append(CsvCells.line(cells));
    }
    return csv.toString();
  }

  /** The number; null for an unknown one, which a spreadsheet would add up. */
  private static @Nullable Integer counted(int number) {
    return number < 0 ? null : number;
  }

  private Predicate<SeenLock> matcher() {
    String wanted = text.toLowerCase(Locale.ROOT);
    return lock ->
        lock.name().startsWith(prefix)
            && (wanted.isEmpty()
                || has(lock.name(), wanted)
                || has(lock.firstLabel(), wanted)
                || has(client(lock), wanted)
                || lock.info().holders().stream().anyMatch(party -> has(party, wanted))
                || lock.info().waiters().stream().anyMatch(party -> has(party, wanted)));
  }

  private @Nullable ClientInfo client(SeenLock lock) {
    String attempt = lock.firstAttempt();
    return attempt == null ? null : client(observer, null, SeenLock.session(attempt));
  }

  private static boolean has(LockParticipant party, String wanted) {
    return has(party.label(), wanted) || has(party.client(), wanted);
  }

  private static boolean has(@Nullable ClientInfo client, String wanted) {
    return client != null
        && (has(client.host() + ":" + client.pid(), wanted) || has(client.name(), wanted));
  }

  private static boolean has(String text, String wanted) {
    return text.toLowerCase(Locale.ROOT).contains(wanted);
  }

  private boolean isWanted(Row row) {
    return states.isEmpty() || states.stream().anyMatch(state -> is(row, state));
  }

  private static boolean is(Row row, String state) {
    return switch (state) {
      case "held" -> row.condition() == Condition.HELD;
      case "uncontended" -> row.condition() == Condition.HELD && !row.lock().isWaited();
      default -> row.troubles().contains(Trouble.valueOf(state.toUpperCase(Locale.ROOT)));
    };
  }

  private static void checkState(String state) {
    if (!List.of("held", "uncontended", "waited", "long", "gone", "shut", "cycle")
        .contains(state)) {
      throw RefusedException.badRequest(
          "State '" + state + "' is none of held, waited, long, gone, shut, uncontended, cycle.");
    }
  }

  private Comparator<Row> comparator() {
    Comparator<Row> name = Comparator.comparing(row -> row.lock().name());
    Comparator<Row> held = Comparator.comparing(Row::held).reversed();
    Comparator<Row> waited = Comparator.comparingLong(Row::waitedNanos).reversed();
    return switch (sort) {
      case "name" -> name;
      case "held" -> held.thenComparing(name);
      case "waiting" ->
          Comparator.<Row>comparingInt(row -> -Math.abs(row.lock().waiters()))
              .thenComparing(waited)
              .thenComparing(name);
      case "trouble" ->
          Comparator.comparingInt(Row::rank)
              .thenComparing(waited)
              .thenComparing(held)
              .thenComparing(name);
      default ->
          throw RefusedException.badRequest(
              "Order '" + sort + "' is none of trouble, name, held, waiting.");
    };
  }

  private static boolean isName(String text) {
    try {
      LockName.of(text);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
