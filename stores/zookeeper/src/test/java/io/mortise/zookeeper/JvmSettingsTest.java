package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import javax.security.auth.login.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * JVM-wide settings of other clients of ZooKeeper, Kafka, or TLS. The store follows its URL alone.
 */
@Isolated("sets system properties")
class JvmSettingsTest {
  private static final String JAAS = "java.security.auth.login.config";

  @TempDir private static Path folder;

  private final Map<String, String> before = new LinkedHashMap<>();

  private static Stream<Map<String, String>> settings() throws Exception {
    Path others = folder.resolve("kafka.conf");
    Files.writeString(
        others, "KafkaClient {\n  com.sun.security.auth.module.Krb5LoginModule required;\n};\n");
    Path another = folder.resolve("client.conf");
    Files.writeString(
        another,
        "Client {\n  org.apache.zookeeper.server.auth.DigestLoginModule required"
            + " username=\"other\" password=\"ensemble\";\n};\n");
    String nowhere = folder.resolve("none").toString();
    return Stream.of(
        Map.of(JAAS, others.toString()),
        Map.of(JAAS, another.toString()),
        Map.of(JAAS, another.toString(), "zookeeper.sasl.client", "true"),
        Map.of(JAAS, nowhere),
        Map.of("zookeeper.sasl.clientconfig", "Other", JAAS, others.toString()),
        Map.of(
            "zookeeper.client.secure",
            "true",
            "zookeeper.clientCnxnSocket",
            "org.apache.zookeeper.ClientCnxnSocketNetty",
            "zookeeper.ssl.trustStore.location",
            nowhere,
            "zookeeper.ssl.keyStore.location",
            nowhere),
        Map.of("zookeeper.clientCnxnSocket", "no.such.Socket"),
        Map.of("zookeeper.request.timeout", "1", "zookeeper.disableAutoWatchReset", "true"),
        Map.of("socksProxyHost", "127.0.0.1", "socksProxyPort", "1"));
  }

  private void set(Map<String, String> given) {
    given.forEach((name, value) -> before.put(name, System.setProperty(name, value)));
    // It is read once, and kept for the JVM.
    Configuration.setConfiguration(null);
  }

  @AfterEach
  void reset() {
    before.forEach(
        (name, value) -> {
          if (value == null) {
            System.clearProperty(name);
          } else {
            System.setProperty(name, value);
          }
        });
    Configuration.setConfiguration(null);
  }

  @ParameterizedTest
  @MethodSource("settings")
  void givenSettingsOfTheJvmForOtherClients_thenLocksAreTakenAsTheUrlSays(Map<String, String> given)
      throws Exception {
    set(given);
    try (LockClient one =
            LockClient.connect(Scheme.ZK.url(TestServer.shared().address(), "/jvm-settings"));
        LockClient other =
            LockClient.connect(Scheme.ZK.url(TestServer.shared().address(), "/jvm-settings"))) {
      Lease lease = one.lock("a").acquireWithin(TestServer.LONG);
      assertThat(other.lock("a").tryAcquire()).isEmpty();
      assertThat(lease.isValid()).isTrue();
    }
  }
}
