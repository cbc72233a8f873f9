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

/** What all trials do. */
final class Trial {
  /** A bound for everything that does not hang. */
  static final Duration LONG = Duration.ofSeconds(30);

  private Trial() {}

  /** A client whose leases outlast every trial that harms nothing. */
  static LockClient client(String url) {
    return LockClient.builder().url(url).ttl(LONG).build();
  }

  /** Two processes exclude each other, and pass the lock on with a greater token. */
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

  /** Whether a try gets the lock, which is given back; an error is a no. */
  static boolean isGranted(LockClient client, String name) {
    try {
      Optional<Lease> lease = client.lock(name).tryAcquire();
      lease.ifPresent(Lease::close);
      return lease.isPresent();
    } catch (LockException e) {
      return false;
    }
  }

  /** One after the other, over one connection. */
  static void execute(String url, String... statements) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url)) {
      execute(connection, statements);
    }
  }

  /** The same over a connection that stays open. */
  static void execute(Connection connection, String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String each : statements) {
        statement.execute(each);
      }
    }
  }

  /** The same with two clients of their own. */
  static void assertHandedOver(String url) throws Exception {
    try (LockClient one = client(url);
        LockClient other = client(url)) {
      assertHandedOver(one, other, "invoice/42");
    }
  }
}
