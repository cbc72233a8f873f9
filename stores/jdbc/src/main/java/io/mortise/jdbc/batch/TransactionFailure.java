package io.mortise.jdbc.batch;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
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
   * Classifies an error.
   *
   * @param sent whether the commit was on its way
   */
  static TransactionFailure of(SQLException e, Database database, boolean sent) {
    ErrorKind errorKind = database.errorKind(e);
    String store = "Store '" + database.profile().display() + "'";
    String said = FailureText.withoutFullStop(FailureText.quoted(String.valueOf(e.getMessage())));
    String message =
        switch (errorKind) {
          case BUSY ->
              "%s was busy for %s. This try was not executed: %s. Look for a process that keeps it locked."
                  .formatted(store, DurationText.format(database.retryTimeout()), said);
          case FULL ->
              "%s has no room left. This try was not executed: %s. Free space for it."
                  .formatted(store, said);
          case UNFIT -> store + " refused a statement: " + said;
          case READ_ONLY ->
              store + " takes no writes now, so that this try was not executed: " + said;
          case BROKEN -> store + " did not answer: " + said;
        };
    message = database.advice(e).orElse(message);
    RuntimeException cause =
        errorKind == ErrorKind.UNFIT
            ? new StoreUnfitException(message, e)
            : new StoreUnavailableException(message, e);
    boolean mayHaveRun = sent && errorKind == ErrorKind.BROKEN;
    return new TransactionFailure(
        errorKind == ErrorKind.READ_ONLY ? ErrorKind.BROKEN : errorKind, mayHaveRun, cause);
  }

  /** The same of an error that is none of the database. */
  static TransactionFailure of(Error e, Database database, boolean sent) {
    String message =
        "Store '%s' was not served by its driver: %s.".formatted(database.profile().display(), e);
    return new TransactionFailure(
        ErrorKind.BROKEN, sent, new StoreUnavailableException(message, e));
  }

  /** The connection that was to be made leads to a server that must not be used. */
  static TransactionFailure of(StoreUnfitException refusal) {
    return new TransactionFailure(
        refusal.isNotWritable() ? ErrorKind.BROKEN : ErrorKind.UNFIT, false, refusal);
  }
}
