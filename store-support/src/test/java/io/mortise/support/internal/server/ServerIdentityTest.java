package io.mortise.support.internal.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.verification.log.RecordedLog;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ServerIdentityTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final ServerIdentity lasting = ServerIdentity.lasting("clusters", "etcd:h1");

  @Test
  void givenAnotherIdentity_thenBothAreRefused_untilOneIsGoneForAMinute() {
    assertThat(lasting.conflict("7", 0)).isNull();
    assertThat(lasting.conflict("8", SECOND))
        .isEqualTo(
            "Connections lead to different clusters (store=etcd:h1): '7', '8'. Locks in one are not seen in the other. Give an address that leads to one of them; it is used again after a minute.");
    assertThat(lasting.conflict("8", 50 * SECOND)).contains("'7', '8'");
    assertThat(lasting.conflict("7", 55 * SECOND)).contains("'7', '8'");
    assertThat(lasting.conflict("8", 56 * SECOND)).contains("'7', '8'");
    assertThat(lasting.conflict("8", 116 * SECOND)).isNull();
  }

  @Test
  void givenConflict_thenItIsLoggedOnceForAsLongAsItLasts() {
    ServerIdentity identity = ServerIdentity.lasting("clusters", "etcd:logged");
    for (int i = 0; i < 6; i++) {
      identity.conflict(i % 2 == 0 ? "7" : "8", i * SECOND);
    }
    assertThat(RecordedLog.linesWith("store=etcd:logged")).hasSize(1);
    assertThat(identity.conflict("8", 70 * SECOND)).isNull();
    assertThat(identity.conflict("7", 71 * SECOND)).isNotNull();
    assertThat(RecordedLog.linesWith("store=etcd:logged")).hasSize(2);
  }

  @Test
  void givenIdentityOfAProcess_thenARestartChangesIt_andOneThatComesBackIsRefused() {
    ServerIdentity process = ServerIdentity.renewedByRestart("servers", "s");
    assertThat(process.conflict("a", 0)).isNull();
    assertThat(process.conflict("b", SECOND)).isNull();
    assertThat(process.conflict("c", 2 * SECOND)).isNull();
    assertThat(process.conflict("b", 3 * SECOND)).isNotNull();
    assertThat(process.conflict("c", 4 * SECOND)).isNotNull();
    assertThat(process.conflict("d", 5 * SECOND)).isNotNull();
    assertThat(process.conflict("d", 70 * SECOND)).isNull();
  }

  @Test
  void givenSystemsOfOneIdentity_thenAnIndexThatGoesBackTellsThem() {
    assertThat(lasting.conflict("7", 1_000, 0, 0)).isNull();
    assertThat(lasting.conflict("7", 900, 0, 0)).as("sent before").isNull();
    assertThat(lasting.index()).isEqualTo(1_000);
    assertThat(lasting.conflict("7", 5, 1_000, SECOND)).contains("'7', '7, with smaller indexes'");
    assertThat(lasting.conflict("7", 1_001, 1_000, 2 * SECOND)).isNotNull();
    assertThat(lasting.conflict("7", 6, 1_001, 50 * SECOND)).isNotNull();
    assertThat(lasting.conflict("7", 7, 1_001, 62 * SECOND)).isNull();
    assertThat(lasting.index()).isEqualTo(7);
    assertThat(lasting.conflict("7", 8, 7, 63 * SECOND)).isNull();
    assertThat(lasting.conflict("7", 1_002, 8, 64 * SECOND)).isNull();
  }

  @Test
  void givenSystemsOfDifferentIdentities_thenTheirIndexesAreNotCompared() {
    assertThat(lasting.conflict("7", 1_000, 0, 0)).isNull();
    assertThat(lasting.conflict("8", 5, 1_000, SECOND)).contains("'7', '8'.");
    assertThat(lasting.conflict("8", 6, 1_000, 61 * SECOND)).isNull();
    assertThat(lasting.index()).isEqualTo(6);
  }
}
