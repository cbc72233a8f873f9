package shop;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The reports of all instances, in the order of their tokens, with their invariants. */
record Reports(List<Entry> entries) {
  /** A report that was begun. */
  record Entry(long token, long tick, String instance, boolean finished) {}

  static Reports read(String url) {
    List<Entry> entries = new ArrayList<>();
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT token, tick, instance, orders IS NOT NULL FROM report ORDER BY token")) {
      while (rows.next()) {
        entries.add(
            new Entry(rows.getLong(1), rows.getLong(2), rows.getString(3), rows.getBoolean(4)));
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return new Reports(List.copyOf(entries));
  }

  /** The latest report if it is running. */
  Optional<Entry> running() {
    return entries.isEmpty() || entries.get(entries.size() - 1).finished()
        ? Optional.empty()
        : Optional.of(entries.get(entries.size() - 1));
  }

  /** From the first to the latest. */
  long seconds() {
    return entries.isEmpty() ? 0 : entries.get(entries.size() - 1).tick() - entries.get(0).tick();
  }

  Entry of(long token) {
    return entries.stream().filter(entry -> entry.token() == token).findFirst().orElseThrow();
  }

  /**
   * Ticks with two reports, ticks out of order, and times without a report.
   *
   * @param gap how many seconds may lie between two reports
   */
  List<String> violations(long gap) {
    List<String> found = new ArrayList<>();
    Set<Long> ticks = new HashSet<>();
    Entry before = null;
    for (Entry entry : entries) {
      if (!ticks.add(entry.tick())) {
        found.add("twice: " + entry);
      }
      if (before != null && entry.tick() < before.tick()) {
        found.add("out of order: " + before + ", " + entry);
      }
      if (before != null && entry.tick() - before.tick() > gap) {
        found.add("none for too long: " + before + ", " + entry);
      }
      before = entry;
    }
    return found;
  }
}
