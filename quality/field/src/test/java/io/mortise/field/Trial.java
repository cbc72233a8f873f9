package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.testkit.BoundedWait;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Steps shared by all trials. */
final class Trial {
  /** A bound that only a hanging operation exceeds. */
  static final Duration LONG = Duration.ofSeconds(30);

  private Trial() {}

  /** A client whose leases outlast every trial without faults. */
  static LockClient client(String url) {
    return LockClient.builder().url(url).ttl(LONG).build();
  }

  /** Asserts exclusion between two processes, and a hand-off with a greater token. */
  static void assertHandedOver(LockClient one, LockClient other, String name) throws Exception {
    Lease first = one.lock(name).acquireWithin(LONG);
    long token = first.token();
    assertThat(other.lock(name).tryAcquire()).isEmpty();
    CompletableFuture<Lease> next = other.lock(name).acquireAsync(LONG);
    first.close();
    try (Lease second = BoundedWait.join(next)) {
      assertThat(second.token()).isGreaterThan(token);
    }
  }

  /** Whether a try acquires the lock, which is then released; false on an error. */
  static boolean isGranted(LockClient client, String name) {
    try {
      Optional<Lease> lease = client.lock(name).tryAcquire();
      lease.ifPresent(Lease::close);
      return lease.isPresent();
    } catch (LockException e) {
      return false;
    }
  }

  /** Executes statements in order, over one connection. */
  static void execute(String url, String... statements) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url)) {
      execute(connection, statements);
    }
  }

  /** Executes statements over a connection that stays open. */
  static void execute(Connection connection, String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String each : statements) {
        statement.execute(each);
      }
    }
  }

  /** As above, with two new clients. */
  static void assertHandedOver(String url) throws Exception {
    try (LockClient one = client(url);
        LockClient other = client(url)) {
      assertHandedOver(one, other, "invoice/42");
    }
  }
}
