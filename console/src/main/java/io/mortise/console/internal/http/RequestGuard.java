package io.mortise.console.internal.http;

import java.net.InetSocketAddress;
import java.net.URI;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What every request must keep before anybody looks at what it asks for.
 *
 * <p>A page of another site can send requests to a port of this host. It cannot set {@code
 * Authorization} without being asked for, and is not answered if it asks; it cannot read an answer,
 * as none permits it; and by the name of its own site, pointed at this host, it gets 421. There is
 * no cookie, so a browser adds nothing of itself.
 */
final class RequestGuard {
  static final int MAX_BODY = 8 * 1024;

  private static final int MAX_ADDRESS = 4096;

  private final Set<String> hosts = new LinkedHashSet<>();
  private final Set<String> origins = new LinkedHashSet<>();
  private final AccessToken token;

  /**
   * @param behind where people reach the console through a proxy; null if there is none
   */
  RequestGuard(InetSocketAddress address, @Nullable URI behind, AccessToken token) {
    this.token = token;
    String host = address.getAddress().getHostAddress();
    int port = address.getPort();
    addHost("http", host.indexOf(':') < 0 ? host : "[" + host.replaceFirst("%.*", "") + "]", port);
    addHost("http", "localhost", port);
    if (host.equals("0:0:0:0:0:0:0:1")) {
      addHost("http", "[::1]", port);
    }
    if (behind != null) {
      addHost(behind.getScheme(), behind.getHost().toLowerCase(Locale.ROOT), behind.getPort());
    }
  }

  private void addHost(String scheme, String host, int port) {
    int usual = scheme.equals("https") ? 443 : 80;
    int actual = port < 0 ? usual : port;
    hosts.add(host + ":" + actual);
    origins.add(scheme + "://" + host + ":" + actual);
    if (actual == usual) {
      hosts.add(host);
      origins.add(scheme + "://" + host);
    }
  }

  /**
   * For every request.
   *
   * @throws RefusedException if a rule is broken
   */
  void check(ConsoleRequest request) {
    if (request.path().length() + request.query().length() > MAX_ADDRESS) {
      throw new RefusedException(
          414,
          "too-long",
          "The address has more than " + MAX_ADDRESS + " characters.",
          "Filter by a shorter text.");
    }
    String host = request.header("Host");
    if (host == null || !hosts.contains(host.toLowerCase(Locale.ROOT))) {
      throw new RefusedException(
          421,
          "foreign-host",
          "This console does not answer for the host that was asked for.",
          "Take the link that the console gave. Behind a proxy, name its address: by ConsoleBuilder.behind in"
              + " Java, or mortise console --behind URL.");
    }
    String origin = request.header("Origin");
    if (origin != null && !origins.contains(origin.toLowerCase(Locale.ROOT))) {
      throw foreignOrigin();
    }
    String site = request.header("Sec-Fetch-Site");
    // A link to the page from another site is followed; all that the page fetches comes from
    // itself.
    boolean followed =
        request.method().equals("GET")
            && "navigate".equals(request.header("Sec-Fetch-Mode"))
            && "document".equals(request.header("Sec-Fetch-Dest"));
    if (site != null && !site.equals("same-origin") && !site.equals("none") && !followed) {
      throw foreignOrigin();
    }
    if (request.method().equals("POST")) {
      checkBody(request);
    }
  }

  private static void checkBody(ConsoleRequest request) {
    String type = request.header("Content-Type");
    if (type == null
        || !type.toLowerCase(Locale.ROOT)
            .replaceFirst(";.*", "")
            .strip()
            .equals("application/json")) {
      throw new RefusedException(
          415, "not-json", "A body has to be JSON, with Content-Type: application/json.", "");
    }
    if (request.body().length > MAX_BODY) {
      throw new RefusedException(413, "too-long", "The body is longer than 8 kB.", "");
    }
  }

  /** Whether the request has the token. */
  boolean isAuthorized(ConsoleRequest request) {
    return token.isIn(request.header("Authorization"));
  }

  /** The answer to a request without it, or with another. */
  ConsoleResponse unauthorized() {
    RefusedException refused =
        new RefusedException(
            401,
            "unauthorized",
            "This link is no longer valid.",
            "Take the new link: from the terminal where mortise console runs, or from Console.url() in Java.");
    return ConsoleResponse.error(refused).with("WWW-Authenticate", "Bearer").later(token.failed());
  }

  private static RefusedException foreignOrigin() {
    return new RefusedException(
        403,
        "foreign-origin",
        "A page of another site asked for this.",
        "Open the console itself.");
  }
}
