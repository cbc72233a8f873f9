package io.mortise.console.internal.http;

import java.net.InetSocketAddress;
import java.net.URI;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a standalone console, whose link has its token.
 *
 * <p>A page of another site can send requests to a port of this host. It cannot set {@code
 * Authorization} without a preflight request, which is refused; it cannot read an answer, as none
 * permits it; and under its own site's name, pointed at this host, it gets 421. There is no cookie,
 * so browsers add no credentials.
 */
final class TokenGuard extends RequestGuard {
  private final Set<String> hosts = new LinkedHashSet<>();
  private final Set<String> origins = new LinkedHashSet<>();
  private final AccessToken token;

  /**
   * @param behind the console's public address behind a proxy; null without a proxy
   */
  TokenGuard(InetSocketAddress address, @Nullable URI behind, AccessToken token) {
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

  @Override
  void checkSource(ConsoleRequest request) {
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
    if ((origin != null && !origins.contains(origin.toLowerCase(Locale.ROOT)))
        || isFromOtherSite(request)) {
      throw foreignOrigin("Open the console itself.");
    }
  }

  @Override
  boolean admits(ConsoleRequest request) {
    return token.isIn(request.header("Authorization"));
  }

  @Override
  @Nullable ConsoleResponse refusal(ConsoleRequest request) {
    if (admits(request)) {
      return null;
    }
    RefusedException refused =
        new RefusedException(
            401,
            "unauthorized",
            "This link is no longer valid.",
            "Take the new link: from the terminal where mortise console runs, or from Console.url() in Java.");
    return ConsoleResponse.error(refused).with("WWW-Authenticate", "Bearer").later(token.failed());
  }
}
