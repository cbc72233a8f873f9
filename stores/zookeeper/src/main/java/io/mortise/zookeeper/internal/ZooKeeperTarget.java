package io.mortise.zookeeper.internal;

import io.mortise.StoreUnavailableException;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.DurationText;
import io.mortise.support.internal.server.ServerUrl;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * The part of a URL about servers and connections, in either layout. Never shows the password.
 *
 * @param hosts {@code host:port,host:port}
 * @param path empty, or a path that begins with a slash and does not end with one
 * @param digest user and password, to authenticate with
 * @param acl of the nodes that are made
 * @param timeout how long an answer may take until a request counts as unanswered
 * @param tick of the servers; zero to determine it
 * @param config of the client library
 */
public record ZooKeeperTarget(
    String hosts,
    String path,
    @Nullable String digest,
    List<ACL> acl,
    Duration timeout,
    Duration tick,
    ZKClientConfig config) {
  /** Time after which a request counts as unanswered. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);

  private static final List<String> TLS_ONLY =
      List.of("ca", "keystore", "keystore-password", "verify-host");

  private static final Set<String> PARAMETERS = Set.of("timeout", "tick", "acl", "tls");

  /** {@code user:password@host:2181,host:2181/path}; an address of IPv6 in brackets. */
  private static final Pattern BASE =
      Pattern.compile("[a-z+]+://(?:([^/]*)@)?([^/@]+)((?:/[^/]+)*)/?");

  private static final Pattern SERVER =
      Pattern.compile(
          "(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9._-]+)?])(?::(\\d{1,5}))?");

  /**
   * Reads a URL.
   *
   * @param more further parameters of the layout
   * @throws IllegalArgumentException if a parameter is unknown or a value is wrong
   */
  public static ZooKeeperTarget parse(StoreUrl url, Set<String> more) {
    Set<String> known = new HashSet<>(more);
    known.addAll(PARAMETERS);
    known.addAll(TLS_ONLY);
    url.allowOnly(known);
    Matcher base = BASE.matcher(url.base());
    if (!base.matches() || !areServers(base.group(2))) {
      throw wrong(url);
    }
    String path = base.group(3);
    if (!path.isEmpty()) {
      check(url, path);
    }
    String digest = base.group(1) == null ? null : decode(url, base.group(1));
    if (digest != null && digest.indexOf(':') <= 0) {
      throw wrong(url);
    }
    return new ZooKeeperTarget(
        base.group(2),
        path,
        digest,
        acl(url, digest != null),
        url.duration("timeout", DEFAULT_TIMEOUT),
        url.duration("tick", Duration.ZERO),
        config(url));
  }

  private static boolean areServers(String hosts) {
    for (String host : hosts.split(",", -1)) {
      Matcher server = SERVER.matcher(host);
      if (!server.matches()
          || (server.group(1) != null && Integer.parseInt(server.group(1)) > 65_535)) {
        return false;
      }
    }
    return true;
  }

  private static void check(StoreUrl url, String path) {
    try {
      PathUtils.validatePath(path);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "The path '" + path + "' of store URL '" + url + "' is none: " + e.getMessage() + ".", e);
    }
  }

  // The lists of ZooKeeper itself: the client asks lists whether they contain null, which others
  // refuse.
  private static List<ACL> acl(StoreUrl url, boolean authenticated) {
    String word = url.parameter("acl", authenticated ? "creator" : "open");
    if (word.equals("open")) {
      return Ids.OPEN_ACL_UNSAFE;
    } else if (word.equals("creator") && authenticated) {
      return Ids.CREATOR_ALL_ACL;
    }
    throw new IllegalArgumentException(
        "Parameter 'acl' of store URL '"
            + url
            + "' is '"
            + word
            + "'. Expected open, or creator where the URL names a user.");
  }

  private static ZKClientConfig config(StoreUrl url) {
    ZKClientConfig config = new UrlConfig();
    if (!url.flag("tls", false)) {
      for (String only : TLS_ONLY) {
        if (url.parameter(only) != null) {
          throw new IllegalArgumentException(
              "Parameter '" + only + "' of store URL '" + url + "' needs tls=true.");
        }
      }
      return config;
    }
    config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
    config.setProperty(
        ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
    config.setProperty(
        "zookeeper.ssl.hostnameVerification", Boolean.toString(url.flag("verify-host", true)));
    String trusted = readable(url, "ca");
    if (trusted != null) {
      String type = type(trusted);
      if (type.equals("PEM")) {
        var unused = ServerUrl.trusted(url, true);
      }
      config.setProperty("zookeeper.ssl.trustStore.location", trusted);
      config.setProperty("zookeeper.ssl.trustStore.type", type);
    }
    String own = readable(url, "keystore");
    if (own != null) {
      config.setProperty("zookeeper.ssl.keyStore.location", own);
      config.setProperty("zookeeper.ssl.keyStore.type", type(own));
      config.setProperty("zookeeper.ssl.keyStore.password", url.parameter("keystore-password", ""));
    }
    return config;
  }

  /**
   * Ignores ZooKeeper's system properties, which other clients of the JVM may need, with one
   * exception: half of the library reads {@code jute.maxbuffer} itself, and only there.
   */
  private static final class UrlConfig extends ZKClientConfig {
    UrlConfig() {
      setProperty(ENABLE_CLIENT_SASL_KEY, "false");
      setProperty(ZOOKEEPER_REQUEST_TIMEOUT, "0");
    }

    @Override
    protected void handleBackwardCompatibility() {
      setProperty(JUTE_MAXBUFFER, System.getProperty(JUTE_MAXBUFFER));
    }
  }

  private static @Nullable String readable(StoreUrl url, String name) {
    String file = url.parameter(name);
    if (file != null && !Files.isReadable(Path.of(file))) {
      throw new IllegalArgumentException(
          "Cannot read '" + file + "', the parameter '" + name + "' of store URL '" + url + "'.");
    }
    return file;
  }

  private static String type(String file) {
    return file.endsWith(".p12") ? "PKCS12" : file.endsWith(".jks") ? "JKS" : "PEM";
  }

  private static String decode(StoreUrl url, String part) {
    try {
      return StoreUrl.decode(part);
    } catch (IllegalArgumentException showsThePart) {
      throw wrong(url);
    }
  }

  private static IllegalArgumentException wrong(StoreUrl url) {
    return new IllegalArgumentException(
        "'"
            + url
            + "' is not a ZooKeeper URL. Write it like "
            + url.scheme()
            + "://user:password@host1:2181,host2:2181/path, special characters of the password as"
            + " %XX.");
  }

  /**
   * Checks the options that both layouts share.
   *
   * @return the ACL, unmodifiable
   * @throws IllegalArgumentException if a value is out of its range
   */
  public static List<ACL> checked(Duration timeout, Duration tick, List<ACL> acl) {
    if (timeout.compareTo(Duration.ofMillis(100)) < 0
        || timeout.compareTo(Duration.ofMinutes(1)) > 0) {
      throw new IllegalArgumentException(
          "The timeout " + DurationText.formatExact(timeout) + " is not within 100ms and 1m.");
    }
    if (tick.isNegative() || tick.compareTo(Duration.ofMinutes(1)) > 0) {
      throw new IllegalArgumentException(
          "The tick " + DurationText.formatExact(tick) + " is not within 0s and 1m.");
    }
    if (acl.isEmpty()) {
      throw new IllegalArgumentException("An empty ACL lets nobody in, not even the holder.");
    }
    // A list that allows the client's question whether it contains null.
    return Collections.unmodifiableList(new ArrayList<>(acl));
  }

  /** The same servers, with another root; empty for their own. */
  public ZooKeeperTarget at(String root) {
    return new ZooKeeperTarget(hosts, root, digest, acl, timeout, tick, config);
  }

  /** Whether connections use TLS. */
  boolean wantsTls() {
    return Boolean.parseBoolean(config.getProperty(ZKClientConfig.SECURE_CLIENT));
  }

  /** A client that begins to connect, with the path as its root. Does not block. */
  ZooKeeper newClient(int sessionMillis, Watcher watcher) {
    try {
      BoundedHostProvider boundedHostProvider =
          new BoundedHostProvider(hosts, sessionMillis, timeout);
      ZooKeeper client =
          made(
              () ->
                  new ZooKeeper(
                      hosts + path, sessionMillis, watcher, false, boundedHostProvider, config));
      if (digest != null) {
        client.addAuthInfo("digest", digest.getBytes(StandardCharsets.UTF_8));
      }
      return client;
    } catch (IOException e) {
      throw new StoreUnavailableException("Cannot make a client of ZooKeeper '" + hosts + "'.", e);
    }
  }

  /** Made on a thread of ours: the client's threads then do not inherit from the caller's. */
  private static ZooKeeper made(Callable<ZooKeeper> client) throws IOException {
    CompletableFuture<ZooKeeper> made = new CompletableFuture<>();
    Runnable task =
        () -> {
          try {
            made.complete(client.call());
          } catch (Exception | Error e) {
            made.completeExceptionally(e);
          }
        };
    WorkerPools.daemons("mortise-zookeeper-client").newThread(task).start();
    try {
      return made.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IOException(e.getCause());
    }
  }

  @Override
  public String toString() {
    return hosts + path;
  }
}
