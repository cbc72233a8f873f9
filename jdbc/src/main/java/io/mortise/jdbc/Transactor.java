package io.mortise.jdbc;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.Database.Trouble;
import io.mortise.spi.News;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of a lane, and one try at a transaction on it. It is made when it is needed, and
 * dropped when it broke or has rested for long. Belongs to whoever has the lane's baton.
 */
final class Transactor {
  private static final Logger LOG = LoggerFactory.getLogger(Transactor.class);

  private final Database database;
  private final ReentrantLock turn;
  private @Nullable Link link;
  private long lastUsed;
  private boolean connects = true;

  /**
   * @param turn held while a transaction runs
   */
  Transactor(Database database, ReentrantLock turn) {
    this.database = database;
    this.turn = turn;
  }

  /** What is done in one transaction, or by one statement. */
  @FunctionalInterface
  interface Doing {
    void on(Link current) throws SQLException;
  }

  /**
   * Whether it makes a connection where there is none; else that is as if somebody was in the way.
   */
  void connects(boolean whether) {
    connects = whether;
  }

  boolean isConnected() {
    return link != null;
  }

  /** Whether it is connected, and will not connect anew. */
  boolean isFresh() {
    return link != null && !isStale();
  }

  /** The news of the transaction that has just committed. */
  List<News> takeTold() {
    return link == null ? List.of() : link.takeTold();
  }

  /** Does all of it in one transaction; null if that is committed. */
  @Nullable Failure attempt(List<Work> works) {
    boolean[] sent = {false};
    return attempt(current -> transact(current, works, sent), sent);
  }

  /**
   * Does something once; once more on a new connection if the one that was there turned out to be
   * of no use at once, as after a restart of the server or a silence that a firewall has ended.
   *
   * <p>The first try may have been executed before the connection broke. Doing it twice changes
   * nothing: a request carries the id of its attempt, by which the store gives the same answer
   * again, and a renewal that has been made before is answered as made.
   *
   * @param sent whether what was sent may be committed, as long as nothing else is known
   */
  @Nullable Failure attempt(Doing doing, boolean[] sent) {
    boolean sentAtFirst = sent[0];
    Link before = link;
    long began = System.nanoTime();
    Failure first = attemptOnce(doing, sent);
    if (first == null
        || first.trouble() != Trouble.BROKEN
        || before == null
        || database.callerRuns()
        || System.nanoTime() - began > database.patience().dividedBy(2).toNanos()) {
      return first;
    }
    LOG.debug("Once more on a new connection to {}", database.profile().display());
    sent[0] = sentAtFirst;
    Failure second = attemptOnce(doing, sent);
    return second == null || !first.mayHaveRun() ? second : second.inDoubt();
  }

  private @Nullable Failure attemptOnce(Doing doing, boolean[] sent) {
    boolean connected = false;
    turn.lock();
    try {
      long now = System.nanoTime();
      if (isStale() && database.borrows()) {
        leave();
      } else if (isStale()) {
        drop();
      }
      lastUsed = now;
      Link current = link;
      if (current == null && !connects) {
        return new Failure(Trouble.BUSY, false, notConnected());
      } else if (current == null) {
        current = database.connect();
        link = current;
      }
      connected = true;
      if (database.isReplaced()) {
        throw replaced();
      }
      doing.on(current);
      return null;
    } catch (SQLException e) {
      return failure(e, sent[0] && connected);
    } catch (StoreUnfitException e) {
      return new Failure(Trouble.UNFIT, false, e);
    } catch (RuntimeException e) {
      rollBack();
      return new Failure(Trouble.UNFIT, sent[0] && connected, e);
    } finally {
      turn.unlock();
    }
  }

  private RuntimeException notConnected() {
    return new StoreUnavailableException(
        "Store '" + database.profile().display() + "' is not connected.");
  }

  private StoreUnfitException replaced() {
    return new StoreUnfitException(
        "The file of store '"
            + database.profile().display()
            + "', or its log, was moved, replaced or removed while in use. Who opens it now does not see "
            + "the locks of this process. End all processes that use it, and start them again.");
  }

  private boolean isStale() {
    return System.nanoTime() - lastUsed > database.idleLimit().toNanos();
  }

  private void transact(Link current, List<Work> works, boolean[] sent) throws SQLException {
    if (works.size() == 1) {
      // A single statement commits by itself.
      sent[0] = true;
      if (works.get(0).fast(current)) {
        return;
      }
      sent[0] = false;
      current.begin(works.get(0).expected());
      works.get(0).run(current);
    } else {
      current.begin(null);
      for (Work work : works) {
        if (!work.fast(current)) {
          work.run(current);
        }
      }
    }
    sent[0] = true;
    current.commit();
  }

  private Failure failure(SQLException e, boolean sent) {
    Failure failure = Failure.of(e, database, sent);
    LOG.debug(
        "Transaction on {} failed: {} ({})",
        database.profile().display(),
        failure.trouble(),
        e.getMessage());
    rollBack();
    if (failure.trouble() == Trouble.BROKEN) {
      drop();
    } else if (failure.trouble() == Trouble.FULL) {
      makeRoom();
    }
    return failure;
  }

  private void makeRoom() {
    tried("making room", current -> current.makeRoom(database));
  }

  private void rollBack() {
    if (!tried("a roll-back", Link::rollback)) {
      drop();
    }
  }

  private void drop() {
    tried("closing a connection", Link::close);
    link = null;
  }

  /** Gives the connection back, as it was where that matters. */
  void leave() {
    tried("undoing the settings of a connection", Link::leave);
    drop();
  }

  /** Does something to the connection, if there is one; false if that fails, which is logged. */
  private boolean tried(String what, Doing doing) {
    Link current = link;
    if (current != null) {
      try {
        doing.on(current);
      } catch (SQLException e) {
        LOG.debug("On {}, {} failed", database.profile().display(), what, e);
        return false;
      }
    }
    return true;
  }
}
