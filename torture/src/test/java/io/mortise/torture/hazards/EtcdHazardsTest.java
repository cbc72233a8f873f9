package io.mortise.torture.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.RerunIfPaused;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** As {@link HazardsTest}, with three members of etcd. */
@Timeout(180)
@RerunIfPaused
class EtcdHazardsTest {
  @Test
  void givenLeaderThatStoodStill_whenItRevokesLiveLeases_thenTheHolderKeepsItsLock()
      throws Exception {
    assertThat(HazardRunner.play("etcd-lease-revoked"))
        .contains("which A has not released", "was never let in");
  }

  @Test
  void givenWriteThatWasGivenUp_whenTheLeaderGoesOnAndExecutesIt_thenItGrantsNothing()
      throws Exception {
    assertThat(HazardRunner.play("etcd-late-write"))
        .contains("who has gone", "gets the lock, token");
  }
}
