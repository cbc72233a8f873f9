package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.jdbc.DatabaseProduct;
import io.mortise.jdbc.PowerLossDisks;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.LossyDisk;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Locks after a server was killed, or its host lost power: with settings that force each commit to
 * the disk before the answer, and with others.
 */
@Timeout(300)
@Tag("extended")
class DurabilityTest {
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final Duration LONG = Duration.ofSeconds(40);

  /** A write that is forced to the disk once a second may be there in time. */
  private static final int TRIES = 5;

  private static LossyDisk disk;

  /** The failures that an answered grant survives. */
  private enum Durability {
    NOTHING,
    CRASH,
    POWER_CUT
  }

  private enum Mode {
    POSTGRESQL(DatabaseProduct.POSTGRESQL, Durability.POWER_CUT, "-c", "synchronous_commit=off"),
    POSTGRESQL_UNSAFE(
        DatabaseProduct.POSTGRESQL,
        Durability.CRASH,
        "-c",
        "fsync=off",
        "-c",
        "full_page_writes=off"),
    MYSQL(DatabaseProduct.MYSQL, Durability.POWER_CUT),
    MYSQL_RELAXED(DatabaseProduct.MYSQL, Durability.CRASH, "--innodb-flush-log-at-trx-commit=2"),
    // Threads that write the log at once, though nobody waits for them, are mostly fast enough.
    MYSQL_UNFORCED_BINLOG(
        DatabaseProduct.MYSQL,
        Durability.CRASH,
        "--sync-binlog=0",
        "--innodb-log-writer-threads=OFF"),
    MYSQL_LAZY(
        DatabaseProduct.MYSQL,
        Durability.NOTHING,
        "--innodb-flush-log-at-trx-commit=0",
        "--innodb-log-writer-threads=OFF"),
    MARIADB(DatabaseProduct.MARIADB, Durability.POWER_CUT, "--log-bin", "--sync-binlog=1"),
    MARIADB_RELAXED(
        DatabaseProduct.MARIADB, Durability.CRASH, "--innodb-flush-log-at-trx-commit=2"),
    MARIADB_UNFORCED_BINLOG(
        DatabaseProduct.MARIADB, Durability.CRASH, "--log-bin", "--sync-binlog=0"),
    MARIADB_LAZY(DatabaseProduct.MARIADB, Durability.NOTHING, "--innodb-flush-log-at-trx-commit=0");

    final DatabaseProduct product;
    final Durability durability;

    @SuppressWarnings("ImmutableEnumChecker") // nobody changes it
    private final String[] arguments;

    Mode(DatabaseProduct product, Durability durability, String... arguments) {
      this.product = product;
      this.durability = durability;
      this.arguments = arguments;
    }

    LocalServer start() {
      return product.start(arguments);
    }

    LocalServer start(LossyDisk on) {
      return product.start(on, arguments);
    }

    LockClient client(LocalServer server) {
      return LockClient.builder().url(server.url()).ttl(TTL).build();
    }
  }

  static Stream<Mode> outlastCrash() {
    // The others: MySqlFailureTest.
    return Arrays.stream(Mode.values())
        .filter(mode -> mode.durability != Durability.NOTHING)
        .filter(mode -> mode != Mode.MYSQL && mode != Mode.MARIADB);
  }

  static Stream<Mode> outlastNothing() {
    return Arrays.stream(Mode.values()).filter(mode -> mode.durability == Durability.NOTHING);
  }

  static Stream<Mode> outlastPowerCut() {
    return Arrays.stream(Mode.values()).filter(mode -> mode.durability == Durability.POWER_CUT);
  }

  static Stream<Mode> doNotOutlastPowerCut() {
    return Arrays.stream(Mode.values()).filter(mode -> mode.durability != Durability.POWER_CUT);
  }

  /** A failure. */
  private interface CrashAction {
    /** Forces to the disk what has been written by now. */
    void prepare();

    void strike(LocalServer server);
  }

  private static final CrashAction CRASH =
      new CrashAction() {
        @Override
        public void prepare() {}

        @Override
        public void strike(LocalServer server) {
          server.kill();
          // The last child may outlive its parent for a moment, and no server starts beside it.
          Awaitility.await()
              .atMost(LONG)
              .ignoreExceptionsInstanceOf(IllegalStateException.class)
              .untilAsserted(server::restart);
        }
      };

  @ParameterizedTest
  @MethodSource("outlastCrash")
  void givenServerThatWritesBeforeItAnswers_whenItIsKilled_thenTheHoldStays_andTokensRise(Mode mode)
      throws Exception {
    try (LocalServer server = mode.start()) {
      checkKept(mode, server, CRASH);
    }
  }

  @ParameterizedTest
  @MethodSource("outlastNothing")
  void givenServerThatWritesLater_whenItIsKilled_thenAGrantIsForgotten_butTheNextTokenIsGreater(
      Mode mode) throws Exception {
    try (LocalServer server = mode.start()) {
      checkForgotten(mode, server, CRASH);
    }
  }

  private static CrashAction powerCut(LossyDisk on) {
    return new CrashAction() {
      @Override
      public void prepare() {
        on.settle();
      }

      @Override
      public void strike(LocalServer server) {
        on.cutPower(server, () -> {});
      }
    };
  }

  @AfterAll
  static void unmount() {
    if (disk != null) {
      disk.close();
    }
  }

  private static LossyDisk disk() {
    if (disk == null) {
      disk = PowerLossDisks.lossy();
    }
    return disk;
  }

  @ParameterizedTest
  @MethodSource("outlastPowerCut")
  void givenServerThatForcesBeforeItAnswers_whenThePowerIsCut_thenTheHoldStays_andTokensRise(
      Mode mode) throws Exception {
    LossyDisk on = disk();
    try (LocalServer server = mode.start(on)) {
      checkKept(mode, server, powerCut(on));
    }
  }

  @ParameterizedTest
  @MethodSource("doNotOutlastPowerCut")
  void givenServerThatForcesLater_whenThePowerIsCut_thenAGrantIsForgotten_butTheNextTokenIsGreater(
      Mode mode) throws Exception {
    LossyDisk on = disk();
    try (LocalServer server = mode.start(on)) {
      checkForgotten(mode, server, powerCut(on));
    }
  }

  /** The last grants before the fault are held after it, by the same holder and nobody else. */
  private static void checkKept(Mode mode, LocalServer server, CrashAction crashAction)
      throws Exception {
    try (LockClient holder = mode.client(server);
        LockClient other = mode.client(server)) {
      Lease old = holder.lock("a").acquire();
      crashAction.prepare();
      Lease[] leases = {old, holder.lock("b").acquire()};

      crashAction.strike(server);

      for (Lease held : leases) {
        assertThat(tried(other, held.name())).as(held.name()).isEmpty();
        long token = held.token();
        held.close();
        try (Lease next =
            Awaitility.await()
                .atMost(LONG)
                .until(() -> other.lock(held.name()).tryAcquire(), Optional::isPresent)
                .orElseThrow()) {
          assertThat(next.token()).isGreaterThan(token);
        }
      }
    }
  }

  /** The last grant before the fault is given again after it, with a greater token. */
  private static void checkForgotten(Mode mode, LocalServer server, CrashAction crashAction)
      throws Exception {
    boolean forgotten = false;
    for (int i = 0; i < TRIES && !forgotten; i++) {
      try (LockClient holder = mode.client(server);
          LockClient other = mode.client(server)) {
        // The tables and the session are there, whatever becomes of the grant.
        holder.lock("warm-up").acquire().close();
        crashAction.prepare();
        String name = "a" + i;
        long token = holder.lock(name).tryAcquire().orElseThrow().token();

        crashAction.strike(server);

        Optional<Lease> second = tried(other, name);
        forgotten = second.isPresent();
        second.ifPresent(lease -> assertThat(lease.token()).isGreaterThan(token));
      }
    }
    assertThat(forgotten).as("granted again").isTrue();
  }

  /** The first answer of a server that has just come back. */
  private static Optional<Lease> tried(LockClient client, String name) {
    return Awaitility.await()
        .atMost(LONG)
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(() -> client.lock(name).tryAcquire(), unused -> true);
  }
}
