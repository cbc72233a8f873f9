package io.mortise.etcd;

import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.DurationText;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where etcd is, and how to use it. Never shows the password.
 *
 * @param members where the cluster's members answer clients
 * @param ca a file of trusted certificates; null for those of the JVM
 */
record EtcdTarget(
    List<URI> members,
    @Nullable String user,
    @Nullable String password,
    String namespace,
    Duration timeout,
    @Nullable Path ca,
    String display) {
  private static final int DEFAULT_PORT = 2379;
  private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(100);
  private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(1);
  private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9._-]{0,64}");
  private static final Pattern PARTS = Pattern.compile("etcd://(?:([^@/]*)@)?([^@/]+)/?");
  private static final Pattern HOST =
      Pattern.compile("([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.%]+])(?::(\\d{1,5}))?");

  static EtcdTarget parse(StoreUrl url) {
    boolean tls = url.flag("tls", false);
    url.allowOnly(
        tls ? Set.of("namespace", "timeout", "tls", "ca") : Set.of("namespace", "timeout", "tls"));
    Matcher parts = PARTS.matcher(url.base());
    if (!parts.matches()) {
      throw wrong(url);
    }
    List<URI> members = members(url, parts.group(2), tls ? "https" : "http");
    String info = parts.group(1);
    int colon = info == null ? -1 : info.indexOf(':');
    if (info != null && colon <= 0) {
      throw new IllegalArgumentException(
          "Store URL '" + url + "' needs a user and a password, etcd://user:password@host:2379.");
    }
    return new EtcdTarget(
        members,
        info == null ? null : decode(info.substring(0, colon)),
        info == null ? null : decode(info.substring(colon + 1)),
        namespace(url),
        timeout(url),
        ca(url),
        "etcd:" + members.stream().map(URI::getRawAuthority).collect(Collectors.joining(",")));
  }

  private static List<URI> members(StoreUrl url, String hosts, String scheme) {
    List<URI> members = new ArrayList<>();
    for (String text : hosts.split(",", -1)) {
      Matcher host = HOST.matcher(text);
      if (!host.matches()) {
        throw wrong(url);
      }
      int port = host.group(2) == null ? DEFAULT_PORT : Integer.parseInt(host.group(2));
      members.add(URI.create(scheme + "://" + host.group(1) + ":" + port));
    }
    return members;
  }

  private static String decode(String part) {
    return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static String namespace(StoreUrl url) {
    String namespace = url.parameter("namespace", "");
    if (!NAMESPACE.matcher(namespace).matches()) {
      throw new IllegalArgumentException(
          "'" + namespace + "' is not a namespace. Use up to 64 letters, digits, '.', '_', '-'.");
    }
    return namespace;
  }

  private static Duration timeout(StoreUrl url) {
    Duration timeout = url.duration("timeout", DEFAULT_TIMEOUT);
    if (timeout.compareTo(SHORTEST_TIMEOUT) < 0 || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
      throw new IllegalArgumentException(
          "Parameter 'timeout' of store URL '%s' is %s. Give %s to %s."
              .formatted(
                  url,
                  DurationText.formatExact(timeout),
                  DurationText.formatExact(SHORTEST_TIMEOUT),
                  DurationText.formatExact(LONGEST_TIMEOUT)));
    }
    return timeout;
  }

  private static @Nullable Path ca(StoreUrl url) {
    String ca = url.parameter("ca");
    Path trusted = ca == null ? null : Path.of(ca);
    if (trusted != null && !Files.isReadable(trusted)) {
      throw new IllegalArgumentException(
          "Cannot read '" + ca + "', the parameter 'ca' of store URL '" + url + "'.");
    }
    return trusted;
  }

  private static IllegalArgumentException wrong(StoreUrl url) {
    return new IllegalArgumentException(
        "'"
            + url
            + "' is not an etcd URL. Write it like etcd://user:password@host1:2379,host2:2379, special characters as %XX.");
  }

  /** What every key begins with. A namespace has no slash, so no two of them share keys. */
  String prefix() {
    return "/mortise/" + namespace + "/";
  }

  boolean isTls() {
    return members.get(0).getScheme().equals("https");
  }

  @Override
  public String toString() {
    return display;
  }
}
