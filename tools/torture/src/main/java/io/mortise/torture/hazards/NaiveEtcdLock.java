package io.mortise.torture.hazards;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.testserver.EtcdServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The naive lock of etcd: a key with a lease, which its holder keeps alive. The client that creates
 * the key has the lock. For one thread.
 */
final class NaiveEtcdLock {
  private static final Pattern ID = Pattern.compile("\"ID\":\"(\\d+)\"");

  private final int port;
  private final int patienceMillis;
  private final String key;
  private final String lease;

  /**
   * Requests a lease.
   *
   * @param member the member to ask
   * @param patienceMillis the timeout of an answer
   * @throws UncheckedIOException if it does not answer; likewise all other methods
   */
  NaiveEtcdLock(EtcdServer member, int patienceMillis, String name, int ttlSeconds) {
    this.port = member.port();
    this.patienceMillis = patienceMillis;
    this.key = '"' + Base64.getEncoder().encodeToString(name.getBytes(UTF_8)) + '"';
    Matcher id = ID.matcher(ask("/v3/lease/grant", "{\"TTL\":\"" + ttlSeconds + "\"}"));
    if (!id.find()) {
      throw new IllegalStateException("Etcd gives no lease.");
    }
    this.lease = id.group(1);
  }

  /** Creates the key; false if it exists. */
  boolean lock() {
    String absent = "{\"key\":%s,\"target\":\"CREATE\",\"create_revision\":\"0\"}".formatted(key);
    String put =
        "{\"requestPut\":{\"key\":%s,\"value\":\"\",\"lease\":\"%s\"}}".formatted(key, lease);
    return ask("/v3/kv/txn", "{\"compare\":[" + absent + "],\"success\":[" + put + "]}")
        .contains("\"succeeded\":true");
  }

  /** Whether etcd confirms the lease. */
  boolean keepAlive() {
    return ask("/v3/lease/keepalive", "{\"ID\":\"" + lease + "\"}").contains("\"TTL\"");
  }

  /** Whether the key exists. */
  boolean isHeld() {
    return ask("/v3/kv/range", "{\"key\":" + key + "}").contains("\"kvs\"");
  }

  private String ask(String path, String body) {
    try {
      HttpURLConnection connection =
          (HttpURLConnection)
              URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
      connection.setConnectTimeout(patienceMillis);
      connection.setReadTimeout(patienceMillis);
      connection.setDoOutput(true);
      try (OutputStream out = connection.getOutputStream()) {
        out.write(body.getBytes(UTF_8));
      }
      try (InputStream in = connection.getInputStream()) {
        return new String(in.readAllBytes(), UTF_8);
      } finally {
        connection.disconnect();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
