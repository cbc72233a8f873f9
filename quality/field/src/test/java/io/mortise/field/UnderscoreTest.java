package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.server.JvmProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Host names with an underscore, as in Docker Compose. */
@Tag("extended")
class UnderscoreTest {
  /** Stores whose sockets the library opens itself. */
  private static final List<FieldStore> OWN =
      List.of(FieldStore.REDIS, FieldStore.ETCD, FieldStore.CONSUL, FieldStore.MEMCACHED);

  @TempDir private Path folder;

  /** A process with its own hosts file, which acquires a lock by each of the URLs. */
  static final class EachUrl {
    private EachUrl() {}

    /**
     * Prints a line for each URL.
     *
     * @param urls of stores
     */
    public static void main(String... urls) {
      for (String url : urls) {
        try (LockClient client = LockClient.connect(url);
            Lease lease = client.lock("x").tryAcquire().orElseThrow()) {
          System.out.println("granted " + lease.isValid());
        } catch (RuntimeException e) {
          System.out.println(e);
        }
      }
    }
  }

  @Test
  @Report({
    "redisson/redisson#722",
    "quarkusio/quarkus#16037",
    "docker/compose#472",
    "micronaut-projects/micronaut-core#1806",
    "SpigotMC/BungeeCord#2667"
  })
  void givenNameWithAnUnderscore_thenItIsConnectedTo_orRefusedBecauseOfIt() throws Exception {
    Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.1 my_server\n");
    List<String> urls = new ArrayList<>();
    for (FieldStore store : OWN) {
      urls.add(store.newUrl().replace("127.0.0.1", "my_server"));
    }
    urls.add("nats://my_server:1");
    urls.add("dynamodb://my_server:1/locks");
    List<String> with = List.of("env", "JAVA_TOOL_OPTIONS=-Djdk.net.hosts.file=" + hosts);
    try (JvmProcess process = JvmProcess.start(with, EachUrl.class, urls.toArray(String[]::new))) {
      for (FieldStore store : OWN) {
        assertThat(process.line()).as("%s", store).isEqualTo("granted true");
      }
      for (int refused = OWN.size(); refused < urls.size(); refused++) {
        assertThat(process.line())
            .startsWith("java.lang.IllegalArgumentException: 'my_server:1' in store URL")
            .contains("no underscore");
      }
    }
  }
}
