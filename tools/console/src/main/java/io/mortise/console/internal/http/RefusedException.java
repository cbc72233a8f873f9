package io.mortise.console.internal.http;

import java.io.Serial;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An error answer to a request. */
public final class RefusedException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  private static final String BUSY = "busy";

  private final int status;
  private final String error;
  private final String remedy;

  /**
   * Creates an error answer.
   *
   * @param status the HTTP status
   * @param error for programs
   * @param message the cause, for people
   * @param remedy the remedy; empty if there is none
   */
  public RefusedException(int status, String error, String message, String remedy) {
    super(message, null, false, false);
    this.status = status;
    this.error = error;
    this.remedy = remedy;
  }

  /** The request is malformed. */
  public static RefusedException badRequest(String message) {
    return new RefusedException(400, "bad-request", message, "");
  }

  /** The path does not exist. */
  public static RefusedException notFound() {
    return new RefusedException(404, "not-found", "There is nothing at this address.", "");
  }

  /** The path does not support the method. */
  public static RefusedException methodNotAllowed(String allowed) {
    return new RefusedException(
        405, "method-not-allowed", "This address takes " + allowed + " only.", "");
  }

  /** There are too many such requests at present. */
  public static RefusedException busy(String message, String remedy) {
    return new RefusedException(503, BUSY, message, remedy);
  }

  boolean isBusy() {
    return error.equals(BUSY);
  }

  int status() {
    return status;
  }

  /** As JSON. */
  public Map<String, @Nullable Object> json() {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("error", error);
    json.put("message", getMessage());
    json.put("remedy", remedy.isEmpty() ? null : remedy);
    return json;
  }
}
