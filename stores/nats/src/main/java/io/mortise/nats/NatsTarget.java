package io.mortise.nats;

import io.mortise.spi.StoreUrl;
import io.mortise.support.internal.server.ServerUrl;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The address of NATS, and how to use it. Never shows a secret.
 *
 * @param servers and the user with a password, or a token
 * @param credentials a file with a JWT and its key
 * @param nkey a file with the seed of a key
 * @param ca a file of trusted certificates; null for those of the JVM
 * @param bucket where the documents are
 * @param syncAlways whether the user says that the servers force each write to the disk
 */
record NatsTarget(
    ServerUrl servers,
    @Nullable Path credentials,
    @Nullable Path nkey,
    boolean tls,
    @Nullable Path ca,
    String bucket,
    Duration timeout,
    boolean syncAlways,
    String display) {
  private static final int DEFAULT_PORT = 4222;

  static NatsTarget parse(StoreUrl url) {
    boolean tls = url.flag("tls", false);
    url.allowOnly(
        Set.of("namespace", "timeout", "credentials", "nkey", "tls", "ca", "sync-always"));
    ServerUrl servers = ServerUrl.parse(url, DEFAULT_PORT, "user:password");
    var unused = servers.urisWithHost(url, tls);
    Path credentials = ServerUrl.file(url, "credentials");
    Path nkey = ServerUrl.file(url, "nkey");
    if (Stream.of(servers.secret() != null, credentials != null, nkey != null)
            .filter(given -> given)
            .count()
        > 1) {
      throw new IllegalArgumentException(
          "Store URL '" + url + "' logs in twice. Give a user, or 'credentials', or 'nkey'.");
    }
    return new NatsTarget(
        servers,
        credentials,
        nkey,
        tls,
        ServerUrl.trusted(url, tls),
        bucket(url),
        ServerUrl.timeout(url),
        url.flag("sync-always", false),
        "nats:" + servers);
  }

  /**
   * Of a connection that is there already.
   *
   * @param server what to call it
   */
  static NatsTarget parse(String server, String parameters) {
    StoreUrl url = StoreUrl.parse("nats://connection?" + parameters);
    url.allowOnly(Set.of("namespace", "timeout", "sync-always"));
    return new NatsTarget(
        new ServerUrl(List.of(), null, null),
        null,
        null,
        false,
        null,
        bucket(url),
        ServerUrl.timeout(url),
        url.flag("sync-always", false),
        server);
  }

  /** A bucket's name has no dot, so a namespace has none here. */
  private static String bucket(StoreUrl url) {
    String namespace = ServerUrl.namespace(url, "_", "-");
    return namespace.isEmpty() ? "mortise" : "mortise-" + namespace;
  }

  @Override
  public String toString() {
    return display;
  }
}
