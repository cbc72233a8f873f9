package io.mortise.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.mortise.FencingToken;
import io.mortise.LockName;
import io.mortise.StaleTokenException;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fencing token of a request, and turns refusals of the guard behind it into responses.
 * The guard is where the data is, and has to compare the token in the same step as it writes
 * ({@code SqlFence}, {@code FencedUpdate}, {@code RedisFence}): the filter keeps no memory of
 * tokens and fences nothing by itself.
 *
 * <table>
 *   <caption>Responses, with a problem (RFC 9457) as the body</caption>
 *   <tr><th>Request</th><th>Status</th></tr>
 *   <tr><td>an unreadable or repeated header; a token of another lock</td>
 *     <td>400</td></tr>
 *   <tr><td>no token, with {@link #required}</td><td>428</td></tr>
 *   <tr><td>the guard threw {@link StaleTokenException} about this token</td>
 *     <td>412, with {@link FencingHeader#REFUSED_NAME}</td></tr>
 *   <tr><td>as before, and {@link StaleTokenException#isGrantedTwice}</td><td>409</td></tr>
 *   <tr><td>anything else</td><td>as without the filter</td></tr>
 * </table>
 *
 * <p>An exception about a token other than the request's does not concern the client, and passes.
 * So does one that comes after the response is committed. Immutable and thread-safe. Blocks only in
 * the given guard.
 *
 * <p>Map it with the dispatcher types {@code REQUEST} and {@code ASYNC}, so that it also answers
 * for asynchronous handlers, before any component that turns exceptions into responses itself.
 */
public final class FencingFilter implements Filter {
  private static final String ATTRIBUTE = FencingToken.class.getName();

  private final boolean required;
  private final @Nullable Function<? super HttpServletRequest, @Nullable String> lock;
  private final @Nullable Consumer<? super FencingToken> guard;

  private FencingFilter(
      boolean required,
      @Nullable Function<? super HttpServletRequest, @Nullable String> lock,
      @Nullable Consumer<? super FencingToken> guard) {
    this.required = required;
    this.lock = lock;
    this.guard = guard;
  }

  /** Requests without a token pass. */
  public static FencingFilter optional() {
    return new FencingFilter(false, null, null);
  }

  /** Requests without a token are refused, whatever their method: map it accordingly. */
  public static FencingFilter required() {
    return new FencingFilter(true, null, null);
  }

  /**
   * The same, with the lock that guards a request's resource. Tokens of other locks are refused,
   * and {@link FencingHeader#DIGITS_NAME} is read. Tokens of different locks cannot be compared, so
   * a client that names the lock must not be free to choose it, unless the guard checks the name.
   *
   * @param lock the name of the lock; null if none guards it
   */
  public FencingFilter withLock(Function<? super HttpServletRequest, @Nullable String> lock) {
    return new FencingFilter(required, Objects.requireNonNull(lock, "lock"), guard);
  }

  /**
   * The same, with a guard that runs before the handler. It refuses stale requests early. It does
   * not replace the guard at the write, as the token may go stale between the two.
   *
   * @param guard throws {@link StaleTokenException} to refuse; may block
   */
  public FencingFilter withGuard(Consumer<? super FencingToken> guard) {
    return new FencingFilter(required, lock, Objects.requireNonNull(guard, "guard"));
  }

  /** The token of a request that has passed the filter; empty if it had none. Does not block. */
  public static Optional<FencingToken> token(ServletRequest request) {
    return request.getAttribute(ATTRIBUTE) instanceof FencingToken token
        ? Optional.of(token)
        : Optional.empty();
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (!(request instanceof HttpServletRequest http
        && response instanceof HttpServletResponse answer)) {
      chain.doFilter(request, response);
      return;
    }
    FencingToken token;
    if (request.getDispatcherType() == DispatcherType.REQUEST) {
      // Removes any earlier value: only this filter sets a request's token.
      request.removeAttribute(ATTRIBUTE);
      try {
        token = read(http);
      } catch (InvalidFencingHeaderException e) {
        problem(answer, 400, "invalid-token", String.valueOf(e.getMessage()));
        return;
      }
      if (token == null && required) {
        problem(
            answer,
            428,
            "token-required",
            "The request has no fencing token. Send that of your lease as header "
                + FencingHeader.NAME
                + ".");
        return;
      }
      request.setAttribute(ATTRIBUTE, token);
    } else {
      token = token(request).orElse(null);
    }
    try {
      if (token != null && guard != null && request.getDispatcherType() == DispatcherType.REQUEST) {
        guard.accept(token);
      }
      chain.doFilter(request, response);
    } catch (ServletException | RuntimeException e) {
      StaleTokenException stale = FencingHeader.refusal(token, e).orElse(null);
      if (stale == null || answer.isCommitted()) {
        throw e;
      }
      // Headers of filters around this one stay, such as those of CORS.
      answer.resetBuffer();
      answer.setHeader(FencingHeader.REFUSED_NAME, FencingHeader.formatRefusal(stale));
      problem(
          answer,
          FencingHeader.status(stale),
          stale.isGrantedTwice() ? "token-granted-twice" : "stale-token",
          String.valueOf(stale.getMessage()));
    }
  }

  private @Nullable FencingToken read(HttpServletRequest request) {
    String expected = lock == null ? null : lock.apply(request);
    String text = only(request, FencingHeader.NAME);
    String digits = lock == null ? null : only(request, FencingHeader.DIGITS_NAME);
    if (text == null) {
      return digits == null || expected == null
          ? null
          : FencingHeader.parseDigits(digits, expected);
    }
    FencingToken token = FencingHeader.parse(text);
    if (lock != null && !token.lock().equals(expected)) {
      throw new InvalidFencingHeaderException(
          "Fencing token "
              + token.value()
              + " is of lock '"
              + LockName.of(token.lock())
              + "', which does not guard this resource. Send that of "
              + (expected == null ? "none." : "lock '" + expected + "'."));
    }
    if (digits != null && !digits.equals(Long.toString(token.value()))) {
      throw new InvalidFencingHeaderException(
          "The headers "
              + FencingHeader.NAME
              + " and "
              + FencingHeader.DIGITS_NAME
              + " have different tokens. Send one of them.");
    }
    return token;
  }

  private static @Nullable String only(HttpServletRequest request, String name) {
    List<String> values = Collections.list(request.getHeaders(name));
    if (values.size() > 1) {
      throw new InvalidFencingHeaderException(
          "Header " + name + " is there " + values.size() + " times. Send it once.");
    }
    return values.isEmpty() ? null : values.get(0);
  }

  private static void problem(HttpServletResponse answer, int status, String type, String detail)
      throws IOException {
    answer.setStatus(status);
    answer.setContentType("application/problem+json");
    String body =
        "{\"type\":\"urn:mortise:"
            + type
            + "\",\"title\":\""
            + type.replace('-', ' ')
            + "\",\"status\":"
            + status
            + ",\"detail\":\""
            + escaped(detail)
            + "\"}";
    answer.setContentLength(body.length());
    try {
      answer.getOutputStream().write(body.getBytes(US_ASCII));
    } catch (IllegalStateException e) {
      // The handler has begun to write text.
      answer.getWriter().write(body);
    }
  }

  private static String escaped(String text) {
    StringBuilder escaped = new StringBuilder();
    text.chars()
        .forEach(
            c -> {
              if (c == '"' || c == '\\') {
                escaped.append('\\').append((char) c);
              } else if (c < ' ' || c > '~') {
                escaped.append(String.format("\\u%04x", c));
              } else {
                escaped.append((char) c);
              }
            });
    return escaped.toString();
  }
}
