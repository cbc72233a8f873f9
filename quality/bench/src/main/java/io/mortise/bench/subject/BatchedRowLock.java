package io.mortise.bench.subject;

import io.mortise.bench.subject.Subjects.SubjectStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A row per lock whose holder is set and unset. Requests that gather while a statement is in flight
 * go with the next one, a durable update by key, sent by one thread. The limit for many threads
 * with a lock each, but useless as a lock: nothing checks for a holder.
 */
final class BatchedRowLock implements Subject {
  private static final int MOST = 128;

  private final BenchDatabase benchDatabase;
  private final BlockingQueue<RowRequest> asked = new LinkedBlockingQueue<>();
  private final Map<Integer, PreparedStatement> updates = new HashMap<>();
  private final Thread lane = new Thread(this::serve, "row-batches");
  private volatile boolean closed;

  BatchedRowLock(StoreUrls storeUrls, SubjectStore storeKind) throws SQLException {
    benchDatabase = new BenchDatabase(storeUrls, storeKind).prepare();
    lane.setDaemon(true);
    lane.start();
  }

  private static final class RowRequest {
    final String lock;
    final long holder;
    final Thread thread = Thread.currentThread();
    volatile boolean done;
    volatile @Nullable SQLException failure;

    RowRequest(String lock, long holder) {
      this.lock = lock;
      this.holder = holder;
    }

    void await() throws SQLException {
      while (!done) {
        LockSupport.park(this);
      }
      if (failure != null) {
        throw failure;
      }
    }
  }

  private void serve() {
    List<RowRequest> batch = new ArrayList<>();
    while (!closed) {
      try {
        RowRequest first = asked.poll(10, TimeUnit.MILLISECONDS);
        if (first != null) {
          batch.add(first);
          asked.drainTo(batch, MOST - 1);
          serve(batch);
          batch.clear();
        }
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void serve(List<RowRequest> batch) {
    SQLException failure = null;
    try {
      update(batch);
    } catch (SQLException e) {
      failure = e;
    }
    for (RowRequest ask : batch) {
      ask.failure = failure;
      ask.done = true;
      LockSupport.unpark(ask.thread);
    }
  }

  private void update(List<RowRequest> batch) throws SQLException {
    // Few lengths, so that few statements are prepared: the last entry is repeated.
    int length = Integer.highestOneBit(2 * batch.size() - 1);
    PreparedStatement update = updates.get(length);
    if (update == null) {
      update = benchDatabase.connection().prepareStatement(sql(length));
      updates.put(length, update);
    }
    for (int i = 0; i < length; i++) {
      RowRequest ask = batch.get(Math.min(i, batch.size() - 1));
      if (isPostgres()) {
        update.setString(2 * i + 1, ask.lock);
        update.setLong(2 * i + 2, ask.holder);
      } else {
        update.setString(i + 1, ask.lock);
        update.setLong(length + i + 1, ask.holder);
        update.setString(2 * length + i + 1, ask.lock);
      }
    }
    update.executeUpdate();
  }

  private String sql(int length) {
    if (isPostgres()) {
      return "update plain_lock p set holder = v.h from (values (cast(? as text), cast(? as bigint))"
          + ", (?, ?)".repeat(length - 1)
          + ") v (n, h) where p.name = v.n";
    }
    String marks = "?" + ", ?".repeat(length - 1);
    return "update plain_lock set holder = elt(field(name, "
        + marks
        + "), "
        + marks
        + ") where name in ("
        + marks
        + ")";
  }

  private boolean isPostgres() {
    return benchDatabase.place() == SubjectStore.POSTGRESQL;
  }

  @Override
  public LockHandle lockHandle(String lock) throws SQLException {
    make(lock);
    long holder = Thread.currentThread().getId();
    return new LockHandle() {
      @Override
      public boolean take(long waitMillis) throws SQLException {
        ask(holder);
        return true;
      }

      @Override
      public void release() throws SQLException {
        ask(0);
      }

      private void ask(long asking) throws SQLException {
        RowRequest ask = new RowRequest(lock, asking);
        asked.add(ask);
        ask.await();
      }
    };
  }

  private void make(String lock) throws SQLException {
    String sql =
        benchDatabase.insertOnce(
            "plain_lock (name, holder, since) values (?, 0, current_timestamp)");
    Connection connection = benchDatabase.connection();
    try (PreparedStatement insert = connection.prepareStatement(sql)) {
      insert.setString(1, lock);
      insert.executeUpdate();
    } finally {
      benchDatabase.closeMine();
    }
  }

  @Override
  public void close() {
    closed = true;
    try {
      lane.join(1_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    benchDatabase.close();
  }
}
