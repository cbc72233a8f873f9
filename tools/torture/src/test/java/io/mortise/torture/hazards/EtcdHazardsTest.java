package io.mortise.torture.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.RerunIfPaused;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Like {@link HazardsTest}, with three members of etcd. A story takes two minutes if the naive lock
 * is lucky in all rounds; the rest of the limit is for the start of the members.
 */
@Timeout(180)
@RerunIfPaused
@Tag("extended")
class EtcdHazardsTest {
  @Test
  void givenLeaderThatStoodStill_whenItRevokesLiveLeases_thenTheHolderKeepsItsLock()
      throws Exception {
    String told = HazardRunner.play("etcd-lease-revoked");
    assertThat(told).contains("was never let in");
    HazardRunner.assumeBroke(told);
    assertThat(told).contains("which A has not released");
  }

  @Test
  void givenWriteThatWasGivenUp_whenTheLeaderGoesOnAndExecutesIt_thenItGrantsNothing()
      throws Exception {
    String told = HazardRunner.play("etcd-late-write");
    assertThat(told).contains("gets the lock, token");
    HazardRunner.assumeBroke(told);
    assertThat(told).contains("who has gone");
  }
}
