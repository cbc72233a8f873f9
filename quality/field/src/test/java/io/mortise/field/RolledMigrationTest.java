package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.mortise.LockClient;
import io.mortise.OuterLocks;
import io.mortise.curator.CuratorOuterLocks;
import io.mortise.shedlock.ShedLockOuterLocks;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.JvmProcess;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.RedisCluster;
import io.mortise.testserver.RedisSentinels;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A migration while everything runs: two processes with the old library and two with both, then
 * four with both, then two of them with Mortise alone. They take the same locks without a pause; a
 * file that only one process can create tells whether two are inside. Processes with the old
 * library take its lock through the same small adapters.
 */
@Tag("extended")
@Timeout(300)
class RolledMigrationTest {
  private static final int NAMES = 2;

  /** How often each process has to be inside in each phase. */
  private static final int TURNS = 20;

  private static final Duration BOUND = Duration.ofSeconds(60);

  @TempDir private Path folder;

  private final List<JvmProcess> processes = new ArrayList<>();

  /** The locks of the old library, as an application has them. */
  private record OldLocks(OuterLocks locks, AutoCloseable end) {}

  /**
   * Takes locks until its input ends.
   *
   * @param args folder, name of the process, {@code old}, {@code both} or {@code new}, URL of the
   *     store, kind of the old library and its address
   */
  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    boolean usesOld = !args[2].equals("new");
    OldLocks old = usesOld ? old(args[4], args[5]) : new OldLocks(name -> null, () -> {});
    LockClient client =
        switch (args[2]) {
          case "old" -> null;
          case "both" -> LockClient.builder().url(args[3]).alsoHolding(old.locks()).build();
          default -> LockClient.connect(args[3]);
        };
    System.out.println("up");
    for (int turn = 0; System.in.available() == 0; turn++) {
      String name = "job/" + turn % NAMES;
      Path inside = folder.resolve("inside-" + turn % NAMES);
      if (client == null) {
        Lock lock = old.locks().exclusive(name);
        if (!lock.tryLock(20, TimeUnit.SECONDS)) {
          note(folder, "waited in vain: " + args[1]);
          continue;
        }
        try {
          enter(folder, inside, args[1]);
        } finally {
          lock.unlock();
        }
      } else {
        client.lock(name).withLock(Duration.ofSeconds(20), () -> enter(folder, inside, args[1]));
      }
      note(folder, "turn " + args[1]);
    }
    if (client != null) {
      client.close();
    }
    old.end().close();
  }

  /** The work, which takes five milliseconds. */
  private static void enter(Path folder, Path inside, String process)
      throws IOException, InterruptedException {
    try {
      Files.createFile(inside);
    } catch (FileAlreadyExistsException e) {
      note(folder, "overlap " + process);
      return;
    }
    Thread.sleep(5);
    Files.delete(inside);
  }

  private static void note(Path folder, String line) throws IOException {
    Files.writeString(
        folder.resolve("notes"), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private static OldLocks old(String kind, String address) {
    if (kind.equals("curator")) {
      CuratorFramework curator = CuratorFrameworkFactory.newClient(address, new RetryOneTime(1000));
      curator.start();
      return new OldLocks(
          CuratorOuterLocks.of(curator, name -> new InterProcessMutex(curator, "/old/" + name)),
          curator);
    } else if (kind.equals("shedlock")) {
      HikariDataSource pool = new HikariDataSource();
      pool.setJdbcUrl(address);
      pool.setMaximumPoolSize(4);
      JdbcTemplateLockProvider provider =
          new JdbcTemplateLockProvider(
              JdbcTemplateLockProvider.Configuration.builder()
                  .withJdbcTemplate(new JdbcTemplate(pool))
                  .usingDbTime()
                  .build());
      return new OldLocks(ShedLockOuterLocks.of(provider, Duration.ofSeconds(30)), pool);
    } else if (kind.equals("mortise")) {
      LockClient client = LockClient.connect(address);
      return new OldLocks(OuterLocks.of(client), client);
    }
    Config config = new Config();
    String[] addresses = address.split(",");
    switch (kind) {
      case "sentinel" ->
          config
              .useSentinelServers()
              .setMasterName("mymaster")
              .setCheckSentinelsList(false)
              .addSentinelAddress(addresses);
      case "cluster" -> config.useClusterServers().addNodeAddress(addresses);
      default -> config.useSingleServer().setAddress(address);
    }
    RedissonClient redisson = Redisson.create(config);
    return new OldLocks(
        name -> {
          RLock lock = redisson.getLock(name);
          return OuterLocks.checked(lock, lock::isHeldByCurrentThread);
        },
        redisson::shutdown);
  }

  @Test
  void givenRedisson_whenProcessesAreRolled_thenNoTwoAreInside() throws Exception {
    try (LocalServer redis = FieldStore.REDIS.start()) {
      roll(FieldStore.REDIS.newUrl(redis), "single", "redis://127.0.0.1:" + redis.port());
    }
  }

  /** Redisson serves nobody for half a minute while a waiter that has left keeps its place. */
  @Test
  @SuppressWarnings("LockNotBeforeTry") // Steps of the test lie between.
  void givenFairLockOfRedisson_whenAWaitIsGivenUp_thenTheNextWaiterIsServed() throws Exception {
    try (LocalServer redis = FieldStore.REDIS.start()) {
      Config config = new Config();
      config.useSingleServer().setAddress("redis://127.0.0.1:" + redis.port());
      RedissonClient first = Redisson.create(config);
      RedissonClient next = Redisson.create(config);
      try (LockClient client =
          LockClient.builder()
              .url(FieldStore.REDIS.newUrl(redis))
              .alsoHolding(first::getFairLock)
              .build()) {
        RLock held = next.getFairLock("a");
        held.lock();
        assertThat(client.lock("a").tryAcquire(Duration.ofMillis(500))).isEmpty();
        held.unlock();
        assertThat(held.tryLock(15, TimeUnit.SECONDS)).isTrue();
        held.unlock();
      } finally {
        first.shutdown();
        next.shutdown();
      }
    }
  }

  @Test
  void givenOldAndNewProcessesWithoutBoth_thenTwoAreSeenInside() throws Exception {
    try (LocalServer redis = FieldStore.REDIS.start()) {
      String url = FieldStore.REDIS.newUrl(redis);
      start("old1", "old", url, "single", "redis://127.0.0.1:" + redis.port());
      start("new1", "new", url, "single", "");
      BoundedWait.until(
          BOUND,
          "two were inside",
          () -> notes().stream().anyMatch(it -> it.startsWith("overlap")));
    } finally {
      processes.forEach(JvmProcess::close);
    }
  }

  @Test
  @Tag("long")
  void givenRedissonOnSentinels_whenProcessesAreRolled_thenNoTwoAreInside() throws Exception {
    try (RedisSentinels redis =
        RedisSentinels.start(FieldStore.REDIS.program(), Duration.ofSeconds(30))) {
      String address =
          redis.entries().stream()
              .map(port -> "redis://127.0.0.1:" + port)
              .reduce((a, b) -> a + "," + b)
              .orElseThrow();
      roll(redis.url(), "sentinel", address);
    }
  }

  @Test
  @Tag("long")
  void givenRedissonOnACluster_whenProcessesAreRolled_thenNoTwoAreInside() throws Exception {
    try (RedisCluster redis =
        RedisCluster.start(FieldStore.REDIS.program(), 3, false, Duration.ofSeconds(30))) {
      roll(redis.url(), "cluster", "redis://127.0.0.1:" + redis.nodes().get(0).portOfOthers());
    }
  }

  @Test
  void givenCurator_whenProcessesAreRolled_thenNoTwoAreInside() throws Exception {
    LocalServer zooKeeper = FieldStore.ZOOKEEPER.shared();
    roll(FieldStore.ZOOKEEPER.newUrl(zooKeeper), "curator", "127.0.0.1:" + zooKeeper.port());
  }

  @Test
  void givenShedLock_whenProcessesAreRolled_thenNoTwoAreInside() throws Exception {
    LocalServer postgres = FieldStore.POSTGRESQL.shared();
    try (HikariDataSource pool = new HikariDataSource()) {
      pool.setJdbcUrl(postgres.url());
      new JdbcTemplate(pool)
          .execute(
              "CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP NOT NULL,"
                  + " locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)");
    }
    roll(FieldStore.POSTGRESQL.newUrl(postgres), "shedlock", postgres.url());
  }

  @Test
  void givenAnotherStore_whenProcessesAreRolled_thenNoTwoAreInside() throws Exception {
    LocalServer postgres = FieldStore.POSTGRESQL.shared();
    LocalServer redis = FieldStore.REDIS.shared();
    roll(FieldStore.POSTGRESQL.newUrl(postgres), "mortise", FieldStore.REDIS.newUrl(redis));
  }

  private void roll(String url, String kind, String address) {
    try {
      start("old1", "old", url, kind, address);
      start("old2", "old", url, kind, address);
      start("both1", "both", url, kind, address);
      start("both2", "both", url, kind, address);
      awaitTurns("old1", "old2", "both1", "both2");
      end(0);
      end(0);
      start("both3", "both", url, kind, address);
      start("both4", "both", url, kind, address);
      awaitTurns("both1", "both2", "both3", "both4");
      end(0);
      end(0);
      start("new1", "new", url, kind, address);
      start("new2", "new", url, kind, address);
      awaitTurns("both3", "both4", "new1", "new2");
      assertThat(notes()).noneMatch(note -> !note.startsWith("turn"));
    } finally {
      processes.forEach(JvmProcess::close);
    }
  }

  private void start(String name, String phase, String url, String kind, String address) {
    JvmProcess process =
        JvmProcess.start(
            RolledMigrationTest.class, folder.toString(), name, phase, url, kind, address);
    processes.add(process);
    assertThat(process.line()).isEqualTo("up");
  }

  /** Ends a process as a deployment does. */
  private void end(int index) {
    JvmProcess process = processes.remove(index);
    process.goOn();
    BoundedWait.until(BOUND, "the process ended", () -> !process.process().isAlive());
    assertThat(process.process().exitValue()).isZero();
  }

  /** Waits until each process has been inside often since now. */
  private void awaitTurns(String... names) {
    int before = notes().size();
    BoundedWait.until(
        BOUND,
        "each of " + Arrays.toString(names) + " had its turns",
        () -> {
          List<String> since = notes().stream().skip(before).toList();
          return Arrays.stream(names)
              .allMatch(name -> Collections.frequency(since, "turn " + name) >= TURNS);
        });
  }

  private List<String> notes() {
    try {
      Path file = folder.resolve("notes");
      return Files.exists(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
