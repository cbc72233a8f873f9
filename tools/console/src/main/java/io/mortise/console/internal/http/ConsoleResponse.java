package io.mortise.console.internal.http;

import io.mortise.console.view.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An answer, independent of the server.
 *
 * @param headers in addition to those of every answer
 * @param stream writes after the headers; null if {@code body} is all
 * @param delay the delay of the answer
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ConsoleResponse(
    int status,
    Map<String, String> headers,
    byte[] body,
    @Nullable StreamBody stream,
    Duration delay) {
  private static final byte[] NOTHING = {};

  /** Writes to one client while it listens. */
  @FunctionalInterface
  public interface StreamBody {
    /**
     * Writes until the client disconnects. Runs on its own thread.
     *
     * @throws java.io.IOException if it has disconnected
     * @throws InterruptedException if the server stops
     */
    void writeTo(EventSink sink) throws java.io.IOException, InterruptedException;
  }

  /** An answer of bytes with a content type. */
  public static ConsoleResponse of(String type, byte[] body) {
    return new ConsoleResponse(200, Map.of("Content-Type", type), body, null, Duration.ZERO);
  }

  /** An answer of JSON that is never cached. */
  public static ConsoleResponse json(int status, Object value) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Content-Type", "application/json; charset=utf-8");
    headers.put("Cache-Control", "no-store");
    byte[] body = JsonWriter.compact(value).getBytes(StandardCharsets.UTF_8);
    return new ConsoleResponse(status, headers, body, null, Duration.ZERO);
  }

  /** An error as JSON. */
  public static ConsoleResponse error(RefusedException refused) {
    ConsoleResponse error = json(refused.status(), refused.json());
    return refused.isBusy() ? error.with("Retry-After", "1") : error;
  }

  /** Server-sent events. */
  public static ConsoleResponse stream(StreamBody stream) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Content-Type", "text/event-stream; charset=utf-8");
    headers.put("Cache-Control", "no-store");
    // Otherwise a proxy such as nginx delays answers until a buffer is full.
    headers.put("X-Accel-Buffering", "no");
    return new ConsoleResponse(200, headers, NOTHING, stream, Duration.ZERO);
  }

  /** A redirect to another address. */
  static ConsoleResponse movedTo(String path) {
    return new ConsoleResponse(308, Map.of("Location", path), NOTHING, null, Duration.ZERO);
  }

  /** The same with another header. */
  public ConsoleResponse with(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new ConsoleResponse(status, more, body, stream, delay);
  }

  ConsoleResponse later(Duration by) {
    return new ConsoleResponse(status, headers, body, stream, by);
  }

  ConsoleResponse notModified() {
    return new ConsoleResponse(304, headers, NOTHING, null, delay);
  }
}
