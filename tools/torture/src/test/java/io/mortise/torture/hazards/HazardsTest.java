package io.mortise.torture.hazards;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.testkit.RerunIfPaused;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each story has its outcome: the naive lock breaks, and Mortise keeps its promise. */
@Timeout(300)
class HazardsTest {
  private final ByteArrayOutputStream told = new ByteArrayOutputStream();

  @Test
  @RerunIfPaused
  void givenHolderStoppedBeyondItsTtl_whenItGoesOn_thenItIsToldAndItsWriteIsRefused()
      throws Exception {
    assertThat(HazardRunner.play("gc-pause")).contains("what B took is lost", "refuses it");
  }

  @Test
  @RerunIfPaused
  void givenHolderWhoseTimeIsOver_whenItReleases_thenItsSuccessorKeepsTheLock() throws Exception {
    assertThat(HazardRunner.play("expired-release"))
        .contains("at the same time as B", "B has it still");
  }

  @Test
  @RerunIfPaused
  void givenReplicaThatLags_whenItIsPromoted_thenTheFormerHolderIsToldOrFenced() throws Exception {
    assertThat(HazardRunner.play("failover-forgets"))
        .contains("nothing tells them apart", "is told: Lease");
  }

  @Test
  @RerunIfPaused
  void givenManyWaiters_whenTheLockIsReleased_thenOnlyTheNextIsWoken() throws Exception {
    assertThat(HazardRunner.play("thundering-herd")).contains("no herd");
  }

  @Test
  @RerunIfPaused
  void givenRequestThatIsGivenUp_whenItArrivesLate_thenItGrantsNothing() throws Exception {
    assertThat(HazardRunner.play("late-command")).contains("who has gone", "gets the lock, token");
  }

  @Test
  void givenFullMemcached_whenAnotherAsks_thenTheHolderKeepsTheLock() throws Exception {
    assertThat(HazardRunner.play("memcached-full"))
        .contains("has deleted A's lock", "gets the lock after A");
  }

  @Test
  void givenStoryThatGoesOtherwise_whenPlayed_thenItSaysSo() {
    try (HazardContext hazardContext =
        new HazardContext(new PrintStream(told, true, UTF_8), null)) {
      assertThatThrownBy(() -> hazardContext.expect(false, "pigs fly"))
          .isInstanceOf(UnexpectedOutcomeException.class)
          .hasMessageContaining("pigs fly");
    }
  }

  @Test
  void givenNames_whenLookedUp_thenEachStoryIsFoundByItsOwn() {
    for (Hazard hazard : HazardCatalog.all()) {
      assertThat(HazardCatalog.find(hazard.name())).containsSame(hazard);
    }
    assertThat(HazardCatalog.find("fire")).isEmpty();
  }
}
