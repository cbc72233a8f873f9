package io.mortise.jdbc;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.Database.Trouble;
import java.sql.SQLException;

/**
 * Why work was not done.
 *
 * @param mayHaveRun whether it may have been done all the same
 */
record Failure(Trouble trouble, boolean mayHaveRun, RuntimeException cause) {
  static Failure closed(Database database) {
    return new Failure(
        Trouble.UNFIT,
        false,
        new StoreUnavailableException("Store '" + database.profile().display() + "' is closed."));
  }

  /** The same of a request that may have been executed at a try before. */
  Failure inDoubt() {
    return mayHaveRun
        ? this
        : new Failure(
            trouble,
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
  static Failure of(SQLException e, Database database, boolean sent) {
    Trouble trouble = database.trouble(e);
    String store = "Store '" + database.profile().display() + "'";
    String message =
        switch (trouble) {
          case BUSY ->
              store
                  + " was busy for "
                  + database.patience().toMillis()
                  + " ms. This try was not executed. Look for a process that keeps it locked.";
          case FULL -> store + " has no room left. This try was not executed. Free space for it.";
          case UNFIT -> store + " refused a statement: " + e.getMessage();
          case BROKEN -> store + " did not answer: " + e.getMessage();
        };
    message = database.advice(e).orElse(message);
    RuntimeException cause =
        trouble == Trouble.UNFIT
            ? new StoreUnfitException(message, e)
            : new StoreUnavailableException(message, e);
    return new Failure(trouble, sent && trouble == Trouble.BROKEN, cause);
  }
}
