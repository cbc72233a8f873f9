package io.mortise.console.internal.http;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a console that an application serves. The application authorizes reads and actions;
 * its cookie goes with every request, even with those of foreign pages.
 *
 * <p>So a write must come from a page of the same origin. Browsers state this by {@code
 * Sec-Fetch-Site}, or else, as on plain HTTP, by {@code Origin}; a page can set neither. A foreign
 * page whose name resolves to this host gets no cookie of it, hence no user.
 */
final class ApplicationGuard extends RequestGuard {
  private static final String BEHIND_PROXY =
      "Open the console itself. Behind a proxy, the application has to know the address that people use: in Spring"
          + " Boot by server.forward-headers-strategy.";

  @Override
  void checkSource(ConsoleRequest request) {
    String site = request.header("Sec-Fetch-Site");
    String origin = request.header("Origin");
    boolean own = caller(request).origin().equalsIgnoreCase(origin);
    boolean foreign = site == null ? origin != null && !own : isFromOtherSite(request);
    boolean write = !request.method().equals("GET") && !request.method().equals("HEAD");
    if (foreign || (write && !own && !"same-origin".equals(site))) {
      throw foreignOrigin(BEHIND_PROXY);
    }
  }

  @Override
  boolean admits(ConsoleRequest request) {
    return caller(request).mayLook();
  }

  @Override
  @Nullable ConsoleResponse refusal(ConsoleRequest request) {
    if (admits(request)) {
      return null;
    }
    return ConsoleResponse.error(
        caller(request).user() == null
            ? new RefusedException(
                403,
                "forbidden",
                "Nobody is signed in.",
                "Sign in to the application, then open this page again.")
            : new RefusedException(
                403,
                "forbidden",
                "You may not use this console.",
                "Ask the people who run this application."));
  }

  private static Caller caller(ConsoleRequest request) {
    return Objects.requireNonNull(request.caller(), "no caller");
  }
}
