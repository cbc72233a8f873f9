package io.mortise.torture.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import io.mortise.consul.ConsulStore;
import io.mortise.curator.CuratorStore;
import io.mortise.dynamodb.DynamoDbStore;
import io.mortise.etcd.EtcdStore;
import io.mortise.jdbc.JdbcStore;
import io.mortise.memcached.MemcachedStore;
import io.mortise.nats.NatsStore;
import io.mortise.quorum.QuorumStore;
import io.mortise.redis.RedisStore;
import io.mortise.sql.SqlHelpers;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.zookeeper.ZooKeeperStore;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Only listed code of the library reads its host's time of day. */
class WallClockUsageTest {
  /** The methods of the JDK that read it, by class. */
  private static final Map<String, Set<String>> TELLERS =
      Map.of(
          "java/lang/System", Set.of("currentTimeMillis"),
          "java/time/Clock",
              Set.of("instant", "millis", "system", "systemUTC", "systemDefaultZone"),
          "java/time/InstantSource", Set.of("instant", "millis", "system"),
          "java/time/Instant", Set.of("now"),
          "java/time/LocalDateTime", Set.of("now"),
          "java/time/OffsetDateTime", Set.of("now"),
          "java/time/ZonedDateTime", Set.of("now"),
          "java/util/Calendar", Set.of("getInstance"),
          "java/util/Date", Set.of("<init>"));

  private record MethodReference(String type, String name) {
    boolean tells() {
      return TELLERS.getOrDefault(type, Set.of()).contains(name);
    }
  }

  @Test
  void
      givenTheCodeOfAllStores_thenNoneReadsTheTimeOfDay_butToBeginAClock_toShowAnAge_orToForgetAFact()
          throws Exception {
    Set<String> readers = new TreeSet<>();
    for (Class<?> module :
        new Class<?>[] {
          LockClient.class,
          VersionedDocuments.class,
          JdbcStore.class,
          SqlHelpers.class,
          RedisStore.class,
          ConsulStore.class,
          DynamoDbStore.class,
          EtcdStore.class,
          NatsStore.class,
          MemcachedStore.class,
          QuorumStore.class,
          ZooKeeperStore.class,
          CuratorStore.class
        }) {
      readers.addAll(readersBeside(module));
    }

    assertThat(readers)
        .containsExactlyInAnyOrder(
            // The host's own clock, which the others receive.
            "io/mortise/spi/time/WallClock",
            // The start of tokens, which then follow the monotonic clock.
            "io/mortise/support/memory/MemStore",
            "io/mortise/jdbc/dialect/HostClock",
            // Displayed ages, and the expiry of idle records.
            "io/mortise/support/document/VersionedDocuments",
            // The expiry of facts on a clockless server.
            "io/mortise/support/document/FactDocuments",
            // Displayed ages.
            "io/mortise/zookeeper/ZooKeeperSurvey",
            "io/mortise/zookeeper/ZooKeeperInspector",
            "io/mortise/curator/CuratorInspector");
  }

  @Test
  void givenCodeThatReadsTheTimeOfDay_thenItIsFound() throws Exception {
    assertThat(System.currentTimeMillis()).isPositive();
    assertThat(readersBeside(WallClockUsageTest.class))
        .contains(WallClockUsageTest.class.getName().replace('.', '/'));
  }

  /**
   * Classes that read it, themselves or by a nested class, in the folder or archive of the given
   * class.
   */
  private static Set<String> readersBeside(Class<?> module) throws Exception {
    Path source = Path.of(module.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (Files.isDirectory(source)) {
      return readers(source);
    }
    try (FileSystem archive =
        FileSystems.newFileSystem(URI.create("jar:" + source.toUri()), Map.of())) {
      return readers(archive.getPath("/"));
    }
  }

  private static Set<String> readers(Path root) throws IOException {
    Set<String> readers = new TreeSet<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".class")).toList()) {
        if (called(file).stream().anyMatch(MethodReference::tells)) {
          readers.add(root.relativize(file).toString().replaceFirst("([$].*)?[.]class$", ""));
        }
      }
    }
    return readers;
  }

  /** The methods referenced by a class file (The Java Virtual Machine Specification, 4.4). */
  private static Set<MethodReference> called(Path file) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      in.skipNBytes(8);
      int count = in.readUnsignedShort();
      String[] texts = new String[count];
      int[][] pairs = new int[count][];
      Set<Integer> methods = new HashSet<>();
      for (int i = 1; i < count; i++) {
        int tag = in.readUnsignedByte();
        switch (tag) {
          case 1 -> texts[i] = in.readUTF();
          case 5, 6 -> {
            in.skipNBytes(8);
            i++;
          }
          case 7, 8, 16, 19, 20 -> pairs[i] = new int[] {in.readUnsignedShort()};
          case 10, 11 -> {
            pairs[i] = new int[] {in.readUnsignedShort(), in.readUnsignedShort()};
            methods.add(i);
          }
          case 12 -> pairs[i] = new int[] {in.readUnsignedShort(), in.readUnsignedShort()};
          case 15 -> in.skipNBytes(3);
          default -> in.skipNBytes(4);
        }
      }
      Set<MethodReference> called = new HashSet<>();
      for (int method : methods) {
        int type = pairs[pairs[method][0]][0];
        int name = pairs[pairs[method][1]][0];
        called.add(new MethodReference(texts[type], texts[name]));
      }
      return called;
    }
  }
}
