package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.testkit.Waits;
import io.mortise.testkit.server.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.h2.tools.Server;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** An H2 server that is killed without a word, and comes back. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs sh")
class H2CrashTest {
  private static final Duration TTL = Duration.ofSeconds(60);

  @TempDir Path folder;

  private final int port = RedisServer.freePort();

  @Test
  @Timeout(180)
  void givenServerThatWritesLater_whenItIsKilled_thenAGrantIsForgotten_butTheNextTokenIsGreater()
      throws Exception {
    // It writes half a second later: on a busy machine that may be sooner than it is killed.
    boolean forgotten = false;
    for (int i = 0; i < 5 && !forgotten; i++) {
      String lock = "a" + i;
      long token = grantAndCrash(lock, "");
      try (H2Process server = new H2Process();
          LockClient other = client("")) {
        assertThat(server.isAlive()).isTrue();
        Optional<Lease> second = other.lock(lock).tryAcquire();
        forgotten = second.isPresent();
        second.ifPresent(lease -> assertThat(lease.token()).isGreaterThan(token));
      }
    }
    assertThat(forgotten).as("granted again").isTrue();
  }

  @Test
  void givenServerThatWritesAtOnce_whenItIsKilled_thenTheHoldStays() throws Exception {
    grantAndCrash("a", ";WRITE_DELAY=0");
    try (H2Process server = new H2Process();
        LockClient other = client(";WRITE_DELAY=0")) {
      assertThat(server.isAlive()).isTrue();
      assertThat(other.lock("a").tryAcquire()).isEmpty();
    }
  }

  /** The token that was granted just before the server was killed. */
  private long grantAndCrash(String lock, String settings) throws IOException {
    H2Process server = new H2Process();
    try (server;
        LockClient holder = client(settings)) {
      holder.lock("warm-up").acquire().close();
      // Tables and session are written by then.
      Waits.pass(Duration.ofMillis(1500));
      long token = holder.lock(lock).acquire().token();
      server.close();
      return token;
    } catch (LockException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private LockClient client(String settings) {
    return LockClient.builder()
        .url("jdbc:h2:tcp://127.0.0.1:" + port + "/./locks" + settings)
        .ttl(TTL)
        .build();
  }

  /** A server in a process of its own; gone when the test's process ends, however that ends. */
  private final class H2Process implements AutoCloseable {
    private final Process process;
    private final Process lifeline;

    H2Process() throws IOException {
      process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx64m",
                  "-XX:TieredStopAtLevel=1",
                  "-cp",
                  System.getProperty(
                      "surefire.test.class.path", System.getProperty("java.class.path")),
                  Server.class.getName(),
                  "-tcp",
                  "-tcpPort",
                  Integer.toString(port),
                  "-ifNotExists",
                  "-baseDir",
                  folder.toString())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      lifeline = new ProcessBuilder("sh", "-c", "read _; kill -9 " + process.pid()).start();
      await().atMost(Duration.ofSeconds(60)).until(this::answers);
    }

    private boolean answers() {
      try {
        new Socket(InetAddress.getLoopbackAddress(), port).close();
        return true;
      } catch (IOException e) {
        return false;
      }
    }

    boolean isAlive() {
      return process.isAlive();
    }

    @Override
    public void close() {
      lifeline.destroyForcibly();
      process.destroyForcibly().onExit().join();
    }
  }
}
