package io.mortise.jdbc.table;

import io.mortise.spi.Fact;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The table of small texts beside the locks. Used by one thread at a time. */
public final class FactTable {
  private final LockRepository repository;

  FactTable(LockRepository repository) {
    this.repository = repository;
  }

  private record FactRow(Fact fact, long until) {}

  /** See {@link io.mortise.spi.LockStore#readFact}. */
  public Fact read(String name, long now) throws SQLException {
    FactRow row = row(name);
    return row == null || row.until() <= now ? Fact.NONE : row.fact();
  }

  private @Nullable FactRow row(String name) throws SQLException {
    return repository
        .of("fact_select", name)
        .first(row -> new FactRow(new Fact(row.getLong(1), row.getString(2)), row.getLong(3)));
  }

  /** See {@link io.mortise.spi.LockStore#replaceFact}. Inside a transaction. */
  public long replace(String name, long version, String content, long keepMicros, long now)
      throws SQLException {
    FactRow present = row(name);
    long before = present == null ? 0 : present.fact().version();
    boolean over = present == null || present.until() <= now;
    if ((over ? 0 : before) != version) {
      return 0;
    }
    long next = Math.max(before + 1, now);
    int replaced =
        repository
            .of(present == null ? "fact_insert" : "fact_update", name)
            .set("expected", before)
            .set("version", next)
            .set("content", content)
            .set("expires_us", now + keepMicros)
            .update();
    return replaced == 1 ? next : 0;
  }

  /** Removes some whose time is over; returns how many. */
  public int sweep(int budget, long now) throws SQLException {
    List<String> names =
        StatementCache.strings(
            repository.of("fact_expired").set("now_us", now).set("row_limit", budget));
    int removed = 0;
    for (String name : names) {
      removed += repository.of("fact_delete", name).set("now_us", now).update();
    }
    return removed;
  }
}
