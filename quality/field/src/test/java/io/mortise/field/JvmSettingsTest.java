package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.JvmProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** JVM settings meant for another purpose, and the end of a JVM. */
@Tag("extended")
class JvmSettingsTest {
  /** Credentials for the DynamoDB emulator, for another JVM. */
  static final String CREDENTIALS = "-Daws.accessKeyId=test -Daws.secretAccessKey=test";

  /**
   * Opens stores, of which only the last is available, and ends without closing it.
   *
   * @param args URLs
   */
  public static void main(String[] args) throws Exception {
    if (args[0].equals("name")) {
      LockClient client = LockClient.connect(args[1]);
      Lease first = client.lock("M\u00fcller").acquire();
      CompletableFuture<Lease> second = client.lock("M\u00fcller").acquireAsync();
      first.close();
      System.out.println(second.get().isValid());
      Runtime.getRuntime().exit(System.in.read());
    }
    for (String url : args) {
      use(url);
    }
    System.out.println("done");
  }

  private static void use(String url) throws InterruptedException {
    try {
      LockClient client = LockClient.connect(url);
      CountDownLatch leads = new CountDownLatch(1);
      client.leader(
          "leader",
          term -> {
            leads.countDown();
            Thread.currentThread().join();
          });
      Lease lease = client.lock("x").acquire();
      leads.await();
      System.out.println(
          lease.isValid()
              + " "
              + client.admin().find("x").orElseThrow().holders().get(0).client().host());
    } catch (LockException e) {
      System.out.println("unavailable: " + e);
    }
  }

  private static List<String> with(String... options) {
    return List.of(
        "env",
        "-u",
        "HOSTNAME",
        "JDK_JAVA_OPTIONS=" + CREDENTIALS + " " + String.join(" ", options));
  }

  @Report({
    "nats-io/nats.java#1355",
    "nats-io/nats.java#324",
    "justinsb/jetcd#8",
    "valkey-io/valkey-glide#4984",
    "jbangdev/jbang#2523"
  })
  @ParameterizedTest
  @EnumSource
  void givenProgramThatClosesNothing_whenItsMainReturns_thenTheJvmEnds(FieldStore store)
      throws Exception {
    String url = store.newUrl();
    String nobody = url.replace(":" + store.shared().port(), ":1");
    try (JvmProcess program = JvmProcess.start(with(), JvmSettingsTest.class, nobody, url)) {
      assertThat(program.line()).startsWith("unavailable: ");
      assertThat(program.line()).startsWith("true ");
      assertThat(program.line()).isEqualTo("done");
      assertThat(program.process().waitFor(BoundedWait.ANSWER.toSeconds(), TimeUnit.SECONDS))
          .as("ends")
          .isTrue();
    }
  }

  @Report({
    "openjdk/jdk#5784",
    "openjdk/jdk17u#151",
    "apache/incubator-baremaps#141",
    "adoptium/adoptium-support#739",
    "alphazero/jredis#58",
    "docker-library/openjdk#34"
  })
  @ParameterizedTest
  @EnumSource
  void givenContainerWithOneProcessorAndNoLocale_thenItWorks_andItsNamesAreThoseOfOthers(
      FieldStore store) {
    String url = store.newUrl();
    try (LockClient client = LockClient.connect(url);
        JvmProcess bare =
            JvmProcess.start(
                with(
                    "-XX:ActiveProcessorCount=1",
                    "-Djava.util.concurrent.ForkJoinPool.common.parallelism=0",
                    "-Dfile.encoding=US-ASCII"),
                JvmSettingsTest.class,
                "name",
                url)) {
      assertThat(bare.line()).isEqualTo("true");
      assertThat(client.lock("M\u00fcller").tryAcquire()).isEmpty();
      client.lock("M\u00f6ller").tryAcquire().orElseThrow().close();
      client.lock("M?ller").tryAcquire().orElseThrow().close();
    }
  }

  @Report({"pgjdbc/pgjdbc#975", "dbeaver/dbeaver#679", "rustyrazorblade/easy-db-lab#735"})
  @ParameterizedTest
  @EnumSource(names = {"REDIS", "ZOOKEEPER", "ETCD", "CONSUL", "NATS", "MEMCACHED"})
  void givenSocksProxyOfTheJvm_whenAStoreIsOpened_thenItIsNotAsked(FieldStore store) {
    try (JvmProcess program =
        JvmProcess.start(
            with(
                "-DsocksProxyHost=127.0.0.1", "-DsocksProxyPort=1", "-DsocksNonProxyHosts=nothing"),
            JvmSettingsTest.class,
            store.newUrl())) {
      assertThat(program.line()).startsWith("true ");
    }
  }

  @Report({
    "spring-projects/spring-boot#7087",
    "spring-cloud/spring-cloud-commons#55",
    "apache/dubbo#885"
  })
  @Test
  @EnabledOnOs(OS.LINUX)
  void givenHostWhoseNameHasNoAddress_thenItIsKnownByThatNameAllTheSame() throws IOException {
    String name = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    try (JvmProcess program =
        JvmProcess.start(
            with("-Djdk.net.hosts.file=/dev/null"), JvmSettingsTest.class, "mem:host")) {
      assertThat(program.line()).endsWith(" " + name);
    }
  }
}
