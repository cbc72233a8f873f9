package io.mortise.field;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.ConsulServer;
import io.mortise.testserver.EtcdServer;
import io.mortise.testserver.MemcachedServer.RawMemcachedConnection;
import io.mortise.testserver.NatsServer;
import io.mortise.testserver.RedisServer;
import io.mortise.testserver.ZooKeeperServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Counts Mortise's entries at a server, without using Mortise. */
public final class ServerKeys {
  private static final String ROWS =
      Stream.of("session", "lock", "hold", "wait", "news", "fact")
          .map("(SELECT COUNT(*) FROM mortise_%s)"::formatted)
          .collect(Collectors.joining(" + ", "SELECT ", ""));

  private ServerKeys() {}

  /**
   * Keys, rows, items, or ephemeral nodes: the server removes containers by itself. 0 on DynamoDB,
   * whose emulator takes seconds to count.
   */
  static long count(FieldStore store, LocalServer server) {
    return switch (store) {
      case REDIS -> Long.parseLong(((RedisServer) server).ask("DBSIZE").get(0));
      case POSTGRESQL, MARIADB, MYSQL -> rows(server.url());
      case H2 -> rows(server.url(), "SELECT COUNT(*) FROM mortise_document");
      case ZOOKEEPER ->
          number("zk_ephemerals_count\\s+(\\d+)", ((ZooKeeperServer) server).ask("mntr"));
      case ETCD -> documents((EtcdServer) server);
      case CONSUL ->
          documents(
              texts("[\\[,]\"([^\"]*)\"", ((ConsulServer) server).send("GET", "/v1/kv/?keys", "")));
      case NATS ->
          number("\"messages\":(\\d+)", ((NatsServer) server).ask("$JS.API.STREAM.LIST", ""));
      case MEMCACHED -> number("STAT curr_items (\\d+)", statistics(server.port()));
      case DYNAMODB -> 0;
    };
  }

  /**
   * Bytes of those entries: with all overhead on Redis, memcached and NATS; of names and data on
   * Consul, etcd and ZooKeeper; 0 on the others, which do not report them.
   */
  static long bytes(FieldStore store, LocalServer server) {
    return switch (store) {
      case REDIS -> Long.parseLong(((RedisServer) server).info("used_memory"));
      case ZOOKEEPER ->
          number("zk_approximate_data_size\\s+(\\d+)", ((ZooKeeperServer) server).ask("mntr"));
      case ETCD -> encoded("\"(?:key|value)\":\"([^\"]*)\"", etcd(server, ""));
      case CONSUL -> {
        String keys = ((ConsulServer) server).send("GET", "/v1/kv/?recurse", "");
        yield letters("\"Key\":\"([^\"]*)\"", keys) + encoded("\"Value\":\"([^\"]*)\"", keys);
      }
      case NATS -> number("\"bytes\":(\\d+)", ((NatsServer) server).ask("$JS.API.STREAM.LIST", ""));
      case MEMCACHED -> number("STAT bytes (\\d+)", statistics(server.port()));
      default -> 0;
    };
  }

  /** Decoded bytes of Base64 texts. */
  private static long encoded(String pattern, String text) {
    return letters(pattern, text) * 3 / 4;
  }

  /** The length of all matches of group 1. */
  private static long letters(String pattern, String text) {
    return texts(pattern, text).mapToLong(String::length).sum();
  }

  /** Group 1 of all matches, at least one. */
  private static Stream<String> texts(String pattern, String text) {
    Matcher found = Pattern.compile(pattern).matcher(text);
    if (!found.find()) {
      throw new AssertionError(pattern + " is not in: " + text);
    }
    return found.reset().results().map(match -> match.group(1));
  }

  /** Keys of a server that has some. */
  public static long documents(EtcdServer server) {
    return documents(
        texts("\"key\":\"([^\"]*)\"", etcd(server, ",\"keys_only\":true"))
            .map(key -> new String(Base64.getDecoder().decode(key), UTF_8)));
  }

  /** Excludes the up to 256 entries that record removals, which are rewritten. */
  private static long documents(Stream<String> keys) {
    return keys.filter(key -> !key.contains("/removed/")).count();
  }

  /** All keys, with their values unless the options say otherwise. */
  private static String etcd(LocalServer server, String options) {
    return ((EtcdServer) server)
        .post("/v3/kv/range", "{\"key\":\"AA==\",\"range_end\":\"AA==\"" + options + "}");
  }

  /** The first match. */
  private static long number(String pattern, String text) {
    return texts(pattern, text).mapToLong(Long::parseLong).findFirst().orElseThrow();
  }

  /** Rows of all tables but the schema table. */
  public static long rows(String url) {
    return rows(url, ROWS);
  }

  private static long rows(String url, String sql) {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static String statistics(int port) {
    try (RawMemcachedConnection connection = new RawMemcachedConnection(port)) {
      connection.send("stats");
      StringBuilder answer = new StringBuilder();
      for (String line = connection.read(); !line.equals("END"); line = connection.read()) {
        answer.append(line).append('\n');
      }
      return answer.toString();
    }
  }
}
