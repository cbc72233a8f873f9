package io.mortise.torture.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.RerunIfPaused;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Like {@link HazardsTest}, with several servers; separate since quorums wait for their servers.
 */
@Timeout(180)
@RerunIfPaused
@Tag("extended")
class QuorumHazardsTest {
  @Test
  void givenServerOfAQuorumThatForgets_whenItVotes_thenNoTwoHold() throws Exception {
    assertThat(HazardRunner.play("redlock-restart")).contains("two hold", "that granted it");
  }

  @Test
  void givenServerOfAQuorum_whenItsClockJumps_thenTheHolderHoldsOn() throws Exception {
    assertThat(HazardRunner.play("redlock-clock-jump")).contains("two hold", "no server's clock");
  }

  @Test
  void givenHolderCutOffFromMostServers_whenOneStillAnswers_thenItIsTold() throws Exception {
    assertThat(HazardRunner.play("redlock-partition"))
        .contains("learns nothing", "was told before");
  }

  @Test
  void givenServerAmongSeveralThatIsOutOfReach_whenItsNameIsLocked_thenItDoesNotMove()
      throws Exception {
    assertThat(HazardRunner.play("sharded-instance-dies")).contains("locked twice", "never moves");
  }
}
