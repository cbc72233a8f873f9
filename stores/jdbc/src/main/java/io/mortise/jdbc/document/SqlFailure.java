package io.mortise.jdbc.document;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import io.mortise.support.document.DocumentTooLargeException;
import java.io.IOException;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransactionRollbackException;

/**
 * Classifies errors of any database, by the exception types and SQL states of the standard, and by
 * what tested databases have instead. Any other error counts as a broken connection: the statement
 * may have been executed.
 */
enum SqlFailure {
  /** A row of that key is there. */
  DUPLICATE,

  /** Rolled back because of others, or not executed in time; the same may succeed in a moment. */
  BUSY,

  /** A text is longer than its column. */
  TOO_LARGE,

  /** Not executed: no writes are taken now. Another connection may lead to a server that does. */
  READ_ONLY,

  /** Never executed: credentials, a right, a table, a statement that the database does not have. */
  REFUSED,

  /** The connection is useless; the statement may have been executed. */
  BROKEN;

  /** Firebird has no SQL state for a row that was deleted while the statement waited for it. */
  private static final String ERASED = "cannot update erased record";

  /** Whether it is a second row of one key. */
  static boolean isDuplicate(SQLException error) {
    return of(error) == DUPLICATE;
  }

  static SqlFailure of(SQLException error) {
    String state = String.valueOf(error.getSQLState());
    if (error instanceof SQLIntegrityConstraintViolationException || state.startsWith("23")) {
      return DUPLICATE;
    } else if (state.equals("40003")) {
      // Whether the statement was completed is not known.
      return BROKEN;
    } else if (error instanceof SQLTransactionRollbackException
        || error instanceof SQLTimeoutException
        || state.matches("40.*|HYT00|57014|61000|90131")
        || (state.equals("HY000") && String.valueOf(error.getMessage()).contains(ERASED))) {
      return BUSY;
    } else if (state.equals("22001")) {
      return TOO_LARGE;
    } else if (state.matches("25006|2550[0-9]|90097")) {
      return READ_ONLY;
    }
    // H2 has states of its own: no right, no such database.
    return state.matches("(?:0A|22|28|2F|3D|3F|42).*|90096|90013|90146|90149") ? REFUSED : BROKEN;
  }

  /** Whether the connection may be used again after a rollback. */
  boolean leavesConnection() {
    return this != BROKEN && this != READ_ONLY;
  }

  /**
   * As a store of documents tells it. A broken connection has an {@link IOException} among its
   * causes, since the request may have been executed.
   *
   * @param store how to call it
   */
  LockException translated(SQLException error, String store) {
    String said =
        FailureText.withoutFullStop(FailureText.quoted(String.valueOf(error.getMessage())));
    return switch (this) {
      case DUPLICATE, REFUSED ->
          new StoreUnfitException(
              "The database refuses a statement (store=%s): %s. Check the rights of the user, and the table."
                  .formatted(store, said),
              error);
      case BUSY ->
          new StoreUnavailableException(
              "The database was busy; nothing was written (store=%s): %s. Look for a transaction that keeps rows of the table locked."
                  .formatted(store, said),
              error);
      case TOO_LARGE ->
          new StoreUnavailableException(
              "The database has no room for a lock with so many holders and waiters (store=%s): %s. Give column doc_text a longer type."
                  .formatted(store, said),
              new DocumentTooLargeException(error));
      case READ_ONLY ->
          new StoreUnavailableException(
              "The database takes no writes now (store=%s): %s.".formatted(store, said), error);
      case BROKEN ->
          new StoreUnavailableException(
              "The database did not answer (store=%s): %s.".formatted(store, said),
              new IOException(error));
    };
  }
}
