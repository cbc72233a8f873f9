package io.mortise.torture.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.RerunIfPaused;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Like {@link HazardsTest}, with ZooKeeper. */
@Timeout(180)
@RerunIfPaused
@Tag("extended")
class ZooKeeperHazardsTest {
  @Test
  void givenHolderStoppedBeyondItsSession_whenItGoesOn_thenItIsToldAndItsWriteIsRefused()
      throws Exception {
    assertThat(HazardRunner.play("zk-session-gc")).contains("what B took is lost", "refuses it");
  }
}
