package io.mortise.field;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.ConsulServer;
import io.mortise.testserver.EtcdServer;
import io.mortise.testserver.MemcachedServer.RawMemcachedConnection;
import io.mortise.testserver.NatsServer;
import io.mortise.testserver.RawRedisConnection;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads and writes the record of a lock in a server without Mortise's clients, on stores that keep
 * it in one text.
 */
final class RawRecord {
  private static final Pattern NAMESPACE = Pattern.compile("[?&]namespace=(\\w+)");

  private final FieldStore store;
  private final LocalServer server;
  private final String namespace;
  private final String lock;

  /**
   * Sends no request yet.
   *
   * @param url of the store, with a namespace
   * @param lock a name of letters
   */
  RawRecord(FieldStore store, LocalServer server, String url, String lock) {
    this.store = store;
    this.server = server;
    this.namespace = group(NAMESPACE, url);
    this.lock = lock;
  }

  private static String group(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    if (!matcher.find()) {
      throw new AssertionError(pattern + " is not in: " + text);
    }
    return matcher.group(1);
  }

  String read() throws Exception {
    return switch (store) {
      case REDIS -> {
        try (RawRedisConnection redis = new RawRedisConnection(server.port())) {
          yield String.valueOf(redis.call("GET", key()));
        }
      }
      case MEMCACHED -> {
        try (RawMemcachedConnection memcached = new RawMemcachedConnection(server.port())) {
          String head = memcached.ask("mg " + key() + " v");
          yield head.startsWith("VA") ? memcached.read() : head;
        }
      }
      case ETCD ->
          ofBase64(
              "value",
              ((EtcdServer) server).post("/v3/kv/range", "{\"key\":" + base64(key()) + "}"));
      case CONSUL ->
          ((ConsulServer) server)
              .send("GET", "/v1/kv/" + key() + "?raw", "")
              .replaceFirst("(?s).*?\r\n\r\n", "");
      case NATS ->
          ofBase64(
              "data",
              ((NatsServer) server)
                  .ask(
                      "$JS.API.STREAM.MSG.GET.KV_mortise-" + namespace,
                      "{\"last_by_subj\":\"" + key() + "\"}"));
      case DYNAMODB ->
          group(
                  Pattern.compile("\"t\":\\{\"S\":\"((?:[^\"\\\\]|\\\\.)*)\""),
                  dynamo("GetItem", "\"ConsistentRead\":true"))
              .replace("\\t", "\t")
              .replace("\\n", "\n");
      default -> throw new IllegalStateException(store + " has no such text.");
    };
  }

  void write(String text) throws Exception {
    switch (store) {
      case REDIS -> {
        try (RawRedisConnection redis = new RawRedisConnection(server.port())) {
          redis.call("SET", key(), text);
        }
      }
      case MEMCACHED -> {
        try (RawMemcachedConnection memcached = new RawMemcachedConnection(server.port())) {
          memcached.ask("set " + key() + " 0 0 " + text.length() + "\r\n" + text);
        }
      }
      case ETCD ->
          ((EtcdServer) server)
              .post("/v3/kv/put", "{\"key\":" + base64(key()) + ",\"value\":" + base64(text) + "}");
      case CONSUL -> ((ConsulServer) server).send("PUT", "/v1/kv/" + key(), text);
      case NATS -> ((NatsServer) server).ask(key(), text);
      case DYNAMODB ->
          dynamo(
              "UpdateItem",
              "\"UpdateExpression\":\"SET t = :t, v = v + :v\",\"ExpressionAttributeValues\":{\":t\":{\"S\":\"%s\"},\":v\":{\"N\":\"1\"}}"
                  .formatted(text.replace("\t", "\\t").replace("\n", "\\n")));
      default -> throw new IllegalStateException(store + " has no such text.");
    }
  }

  private String key() {
    return switch (store) {
      case REDIS -> "m:" + namespace + ":l:" + lock;
      case MEMCACHED -> "mortise." + namespace + ":" + lock;
      case ETCD -> "/mortise/" + namespace + "/lock/" + lock;
      case CONSUL -> "mortise-" + namespace + "/lock/" + lock;
      case NATS -> "$KV.mortise-" + namespace + ".lock." + lock;
      default -> throw new IllegalStateException(store + " has no such key.");
    };
  }

  private static String base64(String text) {
    return '"' + Base64.getEncoder().encodeToString(text.getBytes(UTF_8)) + '"';
  }

  private static String ofBase64(String field, String json) {
    String encoded = group(Pattern.compile("\"" + field + "\":\\s*\"([^\"]*)\""), json);
    return new String(Base64.getDecoder().decode(encoded), UTF_8);
  }

  /** The emulator requires a signature, but does not check it. */
  private String dynamo(String operation, String more) throws IOException, InterruptedException {
    String table = server.url().replaceFirst(".*/", "");
    String body =
        "{\"TableName\":\"%s\",\"Key\":{\"p\":{\"S\":\"%s/lock\"},\"k\":{\"S\":\"%s\"}},%s}"
            .formatted(table, namespace, lock, more);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/"))
            .header("Content-Type", "application/x-amz-json-1.0")
            .header("X-Amz-Target", "DynamoDB_20120810." + operation)
            .header("X-Amz-Date", "20260101T000000Z")
            .header(
                "Authorization",
                "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request,"
                    + " SignedHeaders=host, Signature=none")
            .POST(BodyPublishers.ofString(body))
            .build();
    var answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new AssertionError(answer.body());
    }
    return answer.body();
  }
}
