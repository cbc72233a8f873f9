package io.mortise.support.internal.server;

import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.DurationText;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The part before the parameters of {@code scheme://[user:secret@|secret@]host[:port][,…]}, and
 * parameters that such stores have in common. Never shows a secret.
 *
 * @param servers each as host:port
 * @param user null if there is none
 * @param secret a password if there is a user, otherwise the lone part before the hosts; null if
 *     there is none
 */
public record ServerUrl(List<String> servers, @Nullable String user, @Nullable String secret) {
  private static final int MAX_PORT = 65_535;
  private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(100);
  private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(1);
  private static final Pattern PARTS = Pattern.compile("[^:]+://(?:([^@/]*)@)?([^@/]+)/?");
  private static final Pattern HOST =
      Pattern.compile("([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.%]+])(?::(\\d{1,5}))?");

  /** Copies the list. */
  public ServerUrl {
    servers = List.copyOf(servers);
  }

  /**
   * Parses a URL.
   *
   * @param port the default port
   * @param login the form of the part before the hosts of such a store, for messages
   * @throws IllegalArgumentException if it has another form, or an invalid port
   */
  public static ServerUrl parse(StoreUrl url, int port, String login) {
    Matcher parts = PARTS.matcher(url.base());
    if (!parts.matches()) {
      throw wrong(url, port, login);
    }
    List<String> servers = new ArrayList<>();
    for (String text : parts.group(2).split(",", -1)) {
      Matcher host = HOST.matcher(text);
      if (!host.matches()) {
        throw wrong(url, port, login);
      }
      int given = Integer.parseInt(Objects.requireNonNullElse(host.group(2), "" + port));
      if (given < 1 || given > MAX_PORT) {
        throw new IllegalArgumentException(
            "Port %s in store URL '%s' is not within 1 and %s.".formatted(given, url, MAX_PORT));
      }
      servers.add(host.group(1) + ":" + given);
    }
    String info = parts.group(1);
    int colon = info == null ? -1 : info.indexOf(':');
    return new ServerUrl(
        servers,
        info == null || colon < 0 ? null : decode(url, port, login, info.substring(0, colon)),
        info == null ? null : decode(url, port, login, info.substring(colon + 1)));
  }

  private static String decode(StoreUrl url, int port, String login, String part) {
    try {
      return StoreUrl.decode(part);
    } catch (IllegalArgumentException showsThePart) {
      throw wrong(url, port, login);
    }
  }

  /**
   * The servers as URIs of HTTP. {@link URI#getHost} returns no name that has an underscore.
   *
   * @param url the URL for messages
   * @param tls whether they speak TLS
   * @throws IllegalArgumentException if one cannot be part of a URI
   */
  public List<URI> uris(StoreUrl url, boolean tls) {
    return servers.stream().map(server -> uri(url, tls, server)).toList();
  }

  /**
   * The servers as URIs for a client library that reads the host from the URI.
   *
   * @throws IllegalArgumentException if a URI returns no host for one of them
   */
  public List<URI> urisWithHost(StoreUrl url, boolean tls) {
    List<URI> uris = uris(url, tls);
    for (URI uri : uris) {
      if (uri.getHost() == null) {
        throw wrongHost(url, uri.getRawAuthority(), null);
      }
    }
    return uris;
  }

  private static URI uri(StoreUrl url, boolean tls, String server) {
    try {
      return new URI((tls ? "https://" : "http://") + server);
    } catch (URISyntaxException e) {
      throw wrongHost(url, server, e);
    }
  }

  private static IllegalArgumentException wrongHost(
      StoreUrl url, String server, @Nullable URISyntaxException cause) {
    return new IllegalArgumentException(
        "'%s' in store URL '%s' has no host name that the client library of this store takes: letters, digits and '-' between dots, and no underscore. Give it such a name, or write its address."
            .formatted(server, url),
        cause);
  }

  private static IllegalArgumentException wrong(StoreUrl url, int port, String login) {
    return new IllegalArgumentException(
        "'%s' is not a URL of servers. Write it like %s://%s@host1:%s,host2:%s, without %s@ if you have none, special characters as %%XX, and parameters behind a question mark."
            .formatted(url, url.scheme(), login, port, port, login));
  }

  /**
   * The parameter {@code namespace}: up to 64 letters, digits and some other characters; empty
   * unless it is given.
   *
   * @param others further allowed characters
   * @throws IllegalArgumentException if it has another character, or is longer
   */
  public static String namespace(StoreUrl url, String... others) {
    String namespace = url.parameter("namespace", "");
    if (!namespace.matches("[A-Za-z0-9" + String.join("", others) + "]{0,64}")) {
      throw new IllegalArgumentException(
          "'%s' is not a namespace in %s. Use up to 64 letters, digits, '%s'."
              .formatted(namespace, url.scheme(), String.join("', '", others)));
    }
    return namespace;
  }

  /**
   * The parameter {@code timeout}; 5 s by default.
   *
   * @throws IllegalArgumentException if it is no duration, or out of bounds
   */
  public static Duration timeout(StoreUrl url) {
    return duration(url, "timeout", DEFAULT_TIMEOUT, SHORTEST_TIMEOUT, LONGEST_TIMEOUT);
  }

  /**
   * A parameter that is a time within bounds.
   *
   * @param usual the default
   * @throws IllegalArgumentException if it is no duration, or out of bounds
   */
  public static Duration duration(
      StoreUrl url, String parameter, Duration usual, Duration shortest, Duration longest) {
    Duration given = url.duration(parameter, usual);
    if (given.compareTo(shortest) < 0 || given.compareTo(longest) > 0) {
      throw new IllegalArgumentException(
          "Parameter '%s' of store URL '%s' is %s. Give %s to %s."
              .formatted(
                  parameter,
                  url,
                  DurationText.formatExact(given),
                  DurationText.formatExact(shortest),
                  DurationText.formatExact(longest)));
    }
    return given;
  }

  /**
   * A parameter that names a file; null if it is not there.
   *
   * @throws IllegalArgumentException if the file cannot be read
   */
  public static @Nullable Path file(StoreUrl url, String parameter) {
    String name = url.parameter(parameter);
    Path file = name == null ? null : Path.of(name);
    if (file != null && !Files.isReadable(file)) {
      throw new IllegalArgumentException(
          "Cannot read '%s', the parameter '%s' of store URL '%s'."
              .formatted(file, parameter, url));
    }
    return file;
  }

  /**
   * The parameter {@code ca}, a file of trusted certificates; null if it is not there.
   *
   * @param tls whether the store uses TLS
   * @throws IllegalArgumentException if the file has other contents or cannot be read, or if TLS is
   *     not used
   */
  public static @Nullable Path trusted(StoreUrl url, boolean tls) {
    if (!tls && url.parameter("ca") != null) {
      throw new IllegalArgumentException(
          "Store URL '" + url + "' has trusted certificates (ca) and no TLS. Add tls=true.");
    }
    Path file = file(url, "ca");
    try {
      var unused = file == null ? null : TrustedCertificates.trustManagers(file);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "'%s', the parameter 'ca' of store URL '%s', is no file of certificates in PEM form. Give those that are trusted, without a private key."
              .formatted(file, url),
          e);
    }
    return file;
  }

  @Override
  public String toString() {
    return String.join(",", servers);
  }
}
