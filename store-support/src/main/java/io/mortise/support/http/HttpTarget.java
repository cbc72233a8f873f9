package io.mortise.support.http;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.DurationText;
import io.mortise.support.document.DocumentTooLargeException;
import io.mortise.support.http.HttpServers.HttpRequest;
import io.mortise.support.internal.server.ServerUrl;
import io.mortise.support.internal.server.TrustedCertificates;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The servers of a store. Holds no secret.
 *
 * @param product the product's name in messages
 * @param servers the servers with their schemes, {@code http} or {@code https} for all, and ports
 * @param timeout the time limit of an answer
 * @param ca a file of trusted certificates; null for those of the JVM
 * @param display the store's name in messages
 */
public record HttpTarget(
    String product, List<URI> servers, Duration timeout, @Nullable Path ca, String display) {
  /** Copies the list. */
  public HttpTarget {
    servers = List.copyOf(servers);
  }

  /**
   * The servers of a URL, with its parameters {@code timeout} and {@code ca}.
   *
   * @param product the product's name in messages
   * @param tls whether they speak TLS
   * @throws IllegalArgumentException if a host cannot be part of a URI, or a parameter is wrong
   */
  public static HttpTarget of(StoreUrl url, ServerUrl servers, String product, boolean tls) {
    return new HttpTarget(
        product,
        servers.uris(url, tls),
        ServerUrl.timeout(url),
        ServerUrl.trusted(url, tls),
        url.scheme() + ":" + servers);
  }

  /** The unresolved address of a server. The URI itself returns no host that has an underscore. */
  static InetSocketAddress address(URI server) {
    String authority = server.getRawAuthority();
    int colon = authority.lastIndexOf(':');
    return InetSocketAddress.createUnresolved(
        authority.substring(0, colon), Integer.parseInt(authority.substring(colon + 1)));
  }

  /** Whether they speak TLS. */
  public boolean isTls() {
    return servers.get(0).getScheme().equals("https");
  }

  /** The time limit of an answer with its whole body. */
  Duration wholeTimeout() {
    return timeout.multipliedBy(2);
  }

  String startOfSentence() {
    return product.substring(0, 1).toUpperCase(Locale.ROOT) + product.substring(1);
  }

  StoreUnavailableException unsent() {
    return new StoreUnavailableException(
        "A request to %s was not sent within %s, because earlier ones were in flight (store=%s)."
            .formatted(product, DurationText.formatExact(timeout), display));
  }

  StoreUnavailableException tooLong(HttpRequest request) {
    int length = Objects.requireNonNull(request.body()).length();
    return new StoreUnavailableException(
        "A request of %s characters to %s was not sent (store=%s): what it writes could not be read again. At most %s are sent. Let fewer wait for one lock, or take shorter labels."
            .formatted(length, product, display, request.maxBody()),
        new DocumentTooLargeException(length + " characters"));
  }

  StoreUnavailableException unconnected(Duration limit) {
    return new StoreUnavailableException(
        "No server of %s could be connected to within %s (store=%s). Check host and port, that the server runs, and that its name is resolved in time."
            .formatted(product, DurationText.formatExact(limit), display),
        new TimeoutException("connecting"));
  }

  /** Converts the failure of an exchange to an exception of a lock. */
  public RuntimeException translated(Throwable failure) {
    if (failure instanceof SocketTimeoutException || failure instanceof TimeoutException) {
      Duration limit = failure instanceof TimeoutException ? wholeTimeout() : timeout;
      return new StoreUnavailableException(
          "%s did not answer within %s (store=%s). Check that it runs, that this is its port, and that no firewall is between; raise timeout if the network is slow."
              .formatted(startOfSentence(), DurationText.formatExact(limit), display),
          failure);
    } else if (isTlsMismatch(failure)) {
      return new StoreUnfitException(
          "TLS to %s fails (store=%s): %s. %s"
              .formatted(
                  product,
                  display,
                  failure.getMessage(),
                  TrustedCertificates.advice(
                      failure, "Check tls, ca, and the host name in the server's certificate.")),
          failure);
    } else if (failure instanceof ConnectException
        || failure instanceof NoRouteToHostException
        || failure instanceof UnknownHostException) {
      return new StoreUnavailableException(
          "No server of %s can be connected to (store=%s): %s%s. Check host and port, and that the server runs."
              .formatted(
                  product,
                  display,
                  servers.size() > 1 ? "the last one: " : "",
                  whyNotConnected(failure)),
          failure);
    } else if (failure instanceof IOException) {
      return new StoreUnavailableException(
          "The connection to %s failed (store=%s): %s. Check that it runs, that this is the HTTP port of %s, and tls."
              .formatted(product, display, failure.getMessage(), product),
          failure);
    }
    return failure instanceof RuntimeException known
        ? known
        : new StoreUnavailableException(
            "A request to %s failed (store=%s): %s.".formatted(product, display, failure), failure);
  }

  private static String whyNotConnected(Throwable failure) {
    String said = failure.getMessage();
    return failure instanceof UnknownHostException
        ? "unknown host"
        : said == null || said.startsWith("Connection refused") ? "connection refused" : said;
  }

  /** Whether the two sides do not agree on TLS, and not only the connection broke. */
  private static boolean isTlsMismatch(Throwable failure) {
    boolean inTls = false;
    Throwable deepest = failure;
    for (Throwable at = failure; at != null; at = at.getCause()) {
      inTls |= at instanceof SSLException;
      deepest = at;
    }
    return inTls && !(deepest instanceof EOFException || deepest instanceof SocketException);
  }
}
