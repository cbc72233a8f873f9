package io.mortise.console.internal.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A request, independent of the server.
 *
 * @param path as sent, from the reader's base on
 * @param query as sent; empty if there is none
 * @param headers the values of a header, by its name
 * @param body at most one byte more than {@link RequestGuard#MAX_BODY}. Not read without the token
 *     or the right to act, so that slow senders cannot block threads
 * @param caller the application's statements about it; null if the console runs standalone
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ConsoleRequest(
    String method,
    String path,
    String query,
    Function<String, List<String>> headers,
    byte[] body,
    @Nullable Caller caller) {

  /**
   * The value of a header; null if there is none.
   *
   * @throws RefusedException if there are several, of which readers might use different ones
   */
  public @Nullable String header(String name) {
    List<String> values = headers.apply(name);
    if (values.size() > 1) {
      throw RefusedException.badRequest("Header " + name + " is there more than once.");
    }
    return values.isEmpty() ? null : values.get(0);
  }

  /** The parts of the path between slashes, decoded: a slash of a name is in its part. */
  public List<String> segments() {
    List<String> segments = new ArrayList<>();
    for (String part : path.split("/", -1)) {
      segments.add(decoded(part.replace("+", "%2B")));
    }
    return segments;
  }

  /** The parameters of the query, decoded, in order. */
  public Map<String, List<String>> parameters() {
    Map<String, List<String>> parameters = new LinkedHashMap<>();
    for (String pair : query.split("&", -1)) {
      if (!pair.isEmpty()) {
        int equals = pair.indexOf('=');
        String name = equals < 0 ? pair : pair.substring(0, equals);
        String value = equals < 0 ? "" : pair.substring(equals + 1);
        parameters.computeIfAbsent(decoded(name), key -> new ArrayList<>()).add(decoded(value));
      }
    }
    return parameters;
  }

  /** The same request with its body. */
  ConsoleRequest withBody(byte[] read) {
    return new ConsoleRequest(method, path, query, headers, read, caller);
  }

  /** The same request with another path. */
  ConsoleRequest withPath(String other) {
    return new ConsoleRequest(method, other, query, headers, body, caller);
  }

  /** The same request with another query. */
  public ConsoleRequest withQuery(String other) {
    return new ConsoleRequest(method, path, other, headers, body, caller);
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw RefusedException.badRequest("The address has a percent sign that stands for nothing.");
    }
  }
}
