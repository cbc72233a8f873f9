package io.mortise.jdbc.table;

import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** The behaviour of one kind of database, beside its SQL files. Thread-safe. */
public interface Database extends AutoCloseable {
  /** Longer than any process runs. */
  Duration NEVER = Duration.ofDays(10_000);

  /** Its name, abilities and limits. */
  StoreProfile profile();

  /** A new connection, set up; blocks. */
  StoreConnection connect() throws SQLException;

  /**
   * Whether new connections would lead to another database than those that are open: a file that
   * was moved, replaced or removed. Asked before each transaction.
   */
  default boolean isReplaced() {
    return false;
  }

  /**
   * As {@link #isReplaced}, and also checks the files beside the database's own. {@link
   * #isReplaced} knows the result from then on. Called before each renewal.
   */
  default boolean isReplacedInPart() {
    return isReplaced();
  }

  /** Reads the settings that change what its locks guarantee. */
  StoreReport examine(Connection connection) throws SQLException;

  /** Classifies an error for the tasks that wait for the answer. */
  ErrorKind errorKind(SQLException error);

  /** Whether it means that no further connection is to be had. */
  default boolean isFull(SQLException error) {
    return false;
  }

  /** What to change where an error shows that the store is used in a wrong way. */
  default Optional<String> advice(SQLException error) {
    return Optional.empty();
  }

  /**
   * Whether this user lacks a right. Another connection may be another user's, where the
   * credentials of a pool change.
   */
  default boolean isDenied(SQLException error) {
    return false;
  }

  /** A connection has met {@link ErrorKind#READ_ONLY}: those made before are of no use either. */
  default void demoted() {}

  /** How often that was. */
  default int demotions() {
    return 0;
  }

  /** How long a request may be tried again. */
  default Duration retryTimeout() {
    return profile().maxInFlight();
  }

  /** Whether its connections are a pool's, which gets them back as they were. */
  default boolean borrows() {
    return false;
  }

  /** A connection that was not used for so long may have been ended by the other side. */
  default Duration idleLimit() {
    return NEVER;
  }

  /**
   * Gains room after a {@link ErrorKind#FULL}, where that is possible without removing anything.
   */
  default void makeRoom(Connection connection) throws SQLException {}

  /** Whether the thread that asks may do the work. */
  boolean callerRuns();

  /**
   * Whether a thread that waits for its answer may ask for it: an interrupt leaves the connection
   * as it is.
   */
  default boolean callerHelps() {
    return false;
  }

  /** How many requests may share a transaction. */
  int batch();

  /** How many may share it where nobody waits for any of them, as when a client closes. */
  default int deferredBatch() {
    return batch();
  }

  /** Closes what no {@link StoreConnection} has taken over. */
  @Override
  default void close() {}

  /** The kind of an error. */
  enum ErrorKind {
    /** Rolled back because of others; the same may succeed in a moment. */
    BUSY,
    /** Rolled back, for want of room. */
    FULL,
    /** Rolled back or never begun; trying again does not help. */
    UNFIT,
    /** Not executed: no writes are taken now. Another connection may lead to a server that does. */
    READ_ONLY,
    /** The connection is useless; the statement may have been executed. */
    BROKEN
  }
}
