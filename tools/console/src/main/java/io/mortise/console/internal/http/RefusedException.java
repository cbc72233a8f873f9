package io.mortise.console.internal.http;

import java.io.Serial;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request gets an error as its answer. */
public final class RefusedException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  private static final String BUSY = "busy";

  private final int status;
  private final String error;
  private final String remedy;

  /**
   * Such an error.
   *
   * @param status of HTTP
   * @param error for programs
   * @param message what happened
   * @param remedy what to do; empty if there is nothing
   */
  public RefusedException(int status, String error, String message, String remedy) {
    super(message, null, false, false);
    this.status = status;
    this.error = error;
    this.remedy = remedy;
  }

  /** The request cannot be read. */
  public static RefusedException badRequest(String message) {
    return new RefusedException(400, "bad-request", message, "");
  }

  /** There is nothing of that path. */
  public static RefusedException notFound() {
    return new RefusedException(404, "not-found", "There is nothing at this address.", "");
  }

  /** The path is another method's. */
  public static RefusedException methodNotAllowed(String allowed) {
    return new RefusedException(
        405, "method-not-allowed", "This address takes " + allowed + " only.", "");
  }

  /** Too much of the same is asked for at this moment. */
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
