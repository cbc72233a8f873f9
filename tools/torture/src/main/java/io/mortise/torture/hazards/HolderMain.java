package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The process of a {@link HolderProcess}: one command per line, one answer per line.
 *
 * <pre>
 * mortise URL TTL-MILLIS NAME    acquires the lock; answers its token
 * naive PORT MILLIS NAME         acquires the naive lock of a Redis server; answers ok or busy
 * insert URL NAME                acquires the naive lock of a database, a row; answers ok or busy
 * znode SERVERS MILLIS PATH      acquires the naive lock of ZooKeeper, a node; answers ok or busy
 * valid                          whether the lease is valid
 * release                        releases it; answers ok
 * clock                          milliseconds since 1970
 * </pre>
 */
final class HolderMain {
  private @Nullable Lease lease;

  private HolderMain() {}

  /**
   * Runs until the input ends.
   *
   * @param args none
   */
  public static void main(String[] args) throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    HolderMain player = new HolderMain();
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      System.out.println(player.execute(line.split(" ", -1)));
    }
    // Not closed: a process that ends releases nothing.
    Runtime.getRuntime().halt(0);
  }

  private String execute(String[] words) {
    try {
      return switch (words[0]) {
        case "mortise" -> {
          LockClient client =
              LockClient.builder()
                  .url(words[1])
                  .ttl(Duration.ofMillis(Long.parseLong(words[2])))
                  .name("A")
                  .build();
          Lease taken = client.lock(words[3]).acquireWithin(Duration.ofSeconds(10));
          lease = taken;
          yield Long.toString(taken.token());
        }
        case "naive" -> {
          RedisConnection redis = new RedisConnection(Integer.parseInt(words[1]));
          yield redis.lock(words[3], "A", Long.parseLong(words[2])) ? "ok" : "busy";
        }
        case "insert" -> insert(words[1], words[2]) ? "ok" : "busy";
        case "znode" ->
            new ZooKeeperSessionPause.NaiveZooKeeperLock(words[1], Integer.parseInt(words[2]))
                    .lock(words[3])
                ? "ok"
                : "busy";
        case "valid" -> Boolean.toString(lease != null && lease.isValid());
        case "release" -> {
          if (lease != null) {
            lease.close();
          }
          yield "ok";
        }
        case "clock" -> Long.toString(System.currentTimeMillis());
        default -> "unknown order " + words[0];
      };
    } catch (IOException | SQLException | RuntimeException e) {
      return "failed: " + e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  /** Inserts a row; false if it exists. */
  static boolean insert(String url, String name) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.executeUpdate("INSERT INTO naive_lock VALUES ('" + name + "')");
      return true;
    } catch (SQLException e) {
      String state = e.getSQLState();
      if (state != null && state.startsWith("23")) {
        return false;
      }
      throw e;
    }
  }
}
