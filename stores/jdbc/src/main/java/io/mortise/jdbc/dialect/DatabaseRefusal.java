package io.mortise.jdbc.dialect;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import io.mortise.jdbc.dialect.Dialect.UnfitReason;
import io.mortise.jdbc.table.SqlText;
import java.net.UnknownHostException;
import java.sql.SQLException;

/**
 * Says why a database cannot be used, and what to change.
 *
 * @param store how to call it in a message
 */
record DatabaseRefusal(String store, Dialect dialect, SqlText text) {
  private static final String POOLED =
      "seems to be behind a pooler that gives out server connections per transaction. "
          + "Add pooler=true to the URL, or connect to the server itself.";

  /**
   * Whether the connection did not come about for a reason that somebody must change: unfit, also
   * for a store that connects anew.
   */
  static boolean isAtTheDoor(UnfitReason reason) {
    return switch (reason) {
      case NO_ENTRY, NO_KEY, NO_DATABASE, NO_TLS -> true;
      default -> false;
    };
  }

  /** The exception at opening the store. */
  RuntimeException of(SQLException e) {
    String said = FailureText.withoutFullStop(FailureText.quoted(String.valueOf(e.getMessage())));
    return switch (dialect.reason(e)) {
      case NO_ENTRY ->
          unfit("does not let this user in: " + said + ". Check user and password.", e);
      case NO_KEY ->
          unfit(
              "does not let this user in: "
                  + said
                  + ". Its login needs TLS (sslMode), or allowPublicKeyRetrieval=true.",
              e);
      case NO_RIGHT ->
          unfit(
              "does not let this user make or use the tables '%s': %s. Grant the right, or make them as another user from %s of the jdbc module and grant SELECT, INSERT, UPDATE and DELETE."
                  .formatted(text.table("…"), said, text.schemaResource()),
              e);
      case NO_DATABASE -> unfit("does not exist: " + said + ". Make the database first.", e);
      case NO_SCHEMA ->
          unfit(
              "has no schema for the tables: "
                  + said
                  + ". Make one of the search_path, or name it by currentSchema.",
              e);
      case READ_ONLY ->
          StoreUnfitException.notWritable(
              store + " is read-only: " + said + ". A lock needs to write.");
      case SETTING ->
          unfit("has a setting that forbids what locks need: " + said + ". Change it there.", e);
      case PAGE_SIZE ->
          unfit("has too small pages: " + said + ". Set innodb_page_size to 16k or more.", e);
      case TOO_MANY_CONNECTIONS ->
          unavailable(
              "has no connection left: %s. Mortise needs up to three per process: raise the limit, or make a pool smaller."
                  .formatted(said),
              e);
      case NO_TLS ->
          unfit(
              "cannot be reached with the TLS that the URL asks for: %s. Turn TLS on at the server, or have the URL ask for what it has."
                  .formatted(said),
              e);
      case POOLED -> unfit(POOLED, e);
      case OTHER ->
          said.contains("No suitable driver")
              ? new StoreUnfitException(
                  "There is no driver for %s on the class path. Add %s."
                      .formatted(dialect.product(), dialect.driver()),
                  e)
              : unavailable(unreached(e), e);
    };
  }

  /** There is a pooler of transactions that was not declared. */
  StoreUnfitException pooled() {
    return new StoreUnfitException(store + " " + POOLED);
  }

  private StoreUnfitException unfit(String why, SQLException e) {
    return new StoreUnfitException(store + " " + why, e);
  }

  private StoreUnavailableException unavailable(String why, SQLException e) {
    return new StoreUnavailableException(store + " " + why, e);
  }

  private static String unreached(SQLException e) {
    // Drivers say that they cannot connect; the host is what has to be looked at.
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnknownHostException) {
        return "has an unknown host: " + cause.getMessage() + ". Check its name.";
      }
    }
    return "cannot be used: " + FailureText.quoted(String.valueOf(e.getMessage()));
  }
}
