package io.mortise.zookeeper;

import io.mortise.StoreUnavailableException;
import io.mortise.spi.LockName;
import io.mortise.spi.StoreUrl;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** Where the ZooKeeper is, and how to use it. Never shows the password. */
record ZooKeeperTarget(
    String servers,
    String display,
    @Nullable String digest,
    ZKClientConfig config,
    ZooKeeperStore.Options options) {
  private static final Set<String> PARAMETERS =
      Set.of(
          "namespace",
          "timeout",
          "tick",
          "acl",
          "tls",
          "ca",
          "keystore",
          "keystore-password",
          "verify-host");

  /** {@code zk://user:password@host:2181,host:2181/path}; an address of IPv6 in brackets. */
  private static final Pattern BASE = Pattern.compile("zk://(?:([^/]*)@)?([^/@]+)((?:/[^/]+)*)/?");

  private static final Pattern SERVER =
      Pattern.compile("(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(?::\\d{1,5})?");

  static ZooKeeperTarget parse(StoreUrl url) {
    url.allowOnly(PARAMETERS);
    Matcher base = BASE.matcher(url.base());
    if (!base.matches()) {
      throw wrong(url);
    }
    String servers = base.group(2);
    for (String server : servers.split(",", -1)) {
      if (!SERVER.matcher(server).matches()) {
        throw wrong(url);
      }
    }
    String userInfo = base.group(1);
    String digest = userInfo == null ? null : decode(userInfo);
    if (digest != null && digest.indexOf(':') <= 0) {
      throw wrong(url);
    }
    ZooKeeperStore.Options options =
        ZooKeeperStore.Options.DEFAULT
            .withRoot(root(base.group(3), url.parameter("namespace")))
            .withTimeout(url.duration("timeout", ZooKeeperStore.Options.DEFAULT.timeout()))
            .withTick(url.duration("tick", Duration.ZERO))
            .withAcl(acl(url, digest != null));
    String display = "zk:" + servers + options.root();
    return new ZooKeeperTarget(servers, display, digest, config(url), options);
  }

  private static String root(String path, @Nullable String namespace) {
    String root = path.isEmpty() ? ZooKeeperStore.Options.DEFAULT.root() : path;
    return namespace == null ? root : root + "/" + NodeNames.encode(LockName.of(namespace));
  }

  private static List<ACL> acl(StoreUrl url, boolean authenticated) {
    String name = url.parameter("acl", authenticated ? "creator" : "open");
    if (name.equals("creator") && !authenticated) {
      throw new IllegalArgumentException(
          "Parameter 'acl' of store URL '"
              + url
              + "' is 'creator', but nobody is authenticated. Write zk://user:password@….");
    }
    return switch (name) {
      case "creator" -> Ids.CREATOR_ALL_ACL;
      case "open" -> Ids.OPEN_ACL_UNSAFE;
      default ->
          throw new IllegalArgumentException(
              "Parameter 'acl' of store URL '%s' is '%s'. Expected open or creator."
                  .formatted(url, name));
    };
  }

  private static ZKClientConfig config(StoreUrl url) {
    ZKClientConfig config = new ZKClientConfig();
    if (!url.flag("tls", false)) {
      for (String only : List.of("ca", "keystore", "keystore-password", "verify-host")) {
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
      config.setProperty("zookeeper.ssl.trustStore.location", trusted);
      config.setProperty("zookeeper.ssl.trustStore.type", type(trusted));
    }
    String own = readable(url, "keystore");
    if (own != null) {
      config.setProperty("zookeeper.ssl.keyStore.location", own);
      config.setProperty("zookeeper.ssl.keyStore.type", type(own));
      config.setProperty("zookeeper.ssl.keyStore.password", url.parameter("keystore-password", ""));
    }
    return config;
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

  private static String decode(String part) {
    return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static IllegalArgumentException wrong(StoreUrl url) {
    return new IllegalArgumentException(
        "'"
            + url
            + "' is not a ZooKeeper URL. Write it like zk://user:password@host1:2181,host2:2181/path, special characters of the password as %XX.");
  }

  /** A client that begins to connect. Does not block. */
  ZooKeeper newClient(int sessionMillis, Watcher watcher) {
    try {
      ZooKeeper client = new ZooKeeper(servers, sessionMillis, watcher, false, config);
      if (digest != null) {
        client.addAuthInfo("digest", digest.getBytes(StandardCharsets.UTF_8));
      }
      return client;
    } catch (IOException e) {
      throw new StoreUnavailableException("Cannot make a client of store '" + display + "'.", e);
    }
  }

  @Override
  public String toString() {
    return display;
  }
}
