package io.mortise.testserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.server.LossyDisk;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A power cut loses data that a process crash does not. Runs only where a disk can be mounted. */
class LossyDiskTest {
  private static String afterPowerCut(Path program, LossyDisk disk, String fsync) {
    String[] settings = {
      "--appendonly", "yes", "--appendfsync", fsync, "--dir", disk.folder().toString()
    };
    try (RedisServer server = RedisServer.start(program, settings)) {
      disk.settle();
      server.ask("SET", "a", fsync);
      server.kill();
      server.restart();
      assertThat(server.ask("GET", "a")).as("after a crash").containsExactly(fsync);
      disk.settle();
      server.ask("SET", "a", "last");
      disk.cutPower(server, () -> {});
      return server.ask("GET", "a").get(0);
    }
  }

  private static void check(String fsync, String found) {
    Optional<Path> program = RedisServer.installed(6);
    Optional<LossyDisk> disk = LossyDisk.mount();
    try (LossyDisk mounted = disk.orElse(null)) {
      if (program.isEmpty() || mounted == null) {
        System.out.println("No power cut here: it needs redis-server, and root that may mount.");
        return;
      }
      assertThat(afterPowerCut(program.get(), mounted, fsync)).isEqualTo(found);
    }
  }

  @Test
  void givenServerThatForcesItsLog_whenThePowerIsCut_thenTheLastWriteIsThere() {
    check("always", "last");
  }

  @Test
  void givenServerThatDoesNot_whenThePowerIsCut_thenTheLastWriteIsGone() {
    check("no", "no");
  }
}
