package io.mortise.jdbc.batch;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.spi.time.DurationText;
import java.sql.SQLException;

/**
 * Why work was not done.
 *
 * @param mayHaveRun whether it may have been done all the same
 */
record TransactionFailure(ErrorKind errorKind, boolean mayHaveRun, RuntimeException cause) {
  static TransactionFailure closed(Database database) {
    return new TransactionFailure(
        ErrorKind.UNFIT,
        false,
        new StoreUnavailableException("Store '" + database.profile().display() + "' is closed."));
  }

  /** The same of a request that may have been executed at a try before. */
  TransactionFailure inDoubt() {
    return mayHaveRun
        ? this
        : new TransactionFailure(
            errorKind,
            true,
            new StoreUnavailableException(
                "Whether the request was executed is not known: a try failed, and the last one too. "
                    + cause.getMessage(),
                cause));
  }

  /**
   * What an error means.
   *
   * @param sent whether the commit was on its way
   */
  static TransactionFailure of(SQLException e, Database database, boolean sent) {
    ErrorKind errorKind = database.errorKind(e);
    String store = "Store '" + database.profile().display() + "'";
    String message =
        switch (errorKind) {
          case BUSY ->
              store
                  + " was busy for "
                  + DurationText.format(database.retryTimeout())
                  + ". This try was not executed. Look for a process that keeps it locked.";
          case FULL -> store + " has no room left. This try was not executed. Free space for it.";
          case UNFIT -> store + " refused a statement: " + e.getMessage();
          case BROKEN -> store + " did not answer: " + e.getMessage();
        };
    message = database.advice(e).orElse(message);
    RuntimeException cause =
        errorKind == ErrorKind.UNFIT
            ? new StoreUnfitException(message, e)
            : new StoreUnavailableException(message, e);
    return new TransactionFailure(errorKind, sent && errorKind == ErrorKind.BROKEN, cause);
  }
}
