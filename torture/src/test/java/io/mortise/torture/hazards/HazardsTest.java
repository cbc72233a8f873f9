package io.mortise.torture.hazards;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.testkit.Unpaused;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each story happens as it is told: the naive lock breaks, and Mortise does what it promises. */
@Timeout(300)
class HazardsTest {
  private final ByteArrayOutputStream told = new ByteArrayOutputStream();

  @Test
  @Unpaused
  void givenHolderStoppedBeyondItsTtl_whenItGoesOn_thenItIsToldAndItsWriteIsRefused()
      throws Exception {
    assertThat(Playing.play("gc-pause")).contains("what B took is lost", "refuses it");
  }

  @Test
  @Unpaused
  void givenHolderWhoseTimeIsOver_whenItReleases_thenItsSuccessorKeepsTheLock() throws Exception {
    assertThat(Playing.play("expired-release")).contains("at the same time as B", "B has it still");
  }

  @Test
  @Unpaused
  void givenReplicaThatLags_whenItIsPromoted_thenTheFormerHolderIsToldOrFenced() throws Exception {
    assertThat(Playing.play("failover-forgets"))
        .contains("nothing tells them apart", "is told: Lease");
  }

  @Test
  @Unpaused
  void givenManyWaiters_whenTheLockIsReleased_thenOnlyTheNextIsWoken() throws Exception {
    assertThat(Playing.play("thundering-herd")).contains("no herd");
  }

  @Test
  @Unpaused
  void givenRequestThatIsGivenUp_whenItArrivesLate_thenItGrantsNothing() throws Exception {
    assertThat(Playing.play("late-command")).contains("who has gone", "gets the lock, token");
  }

  @Test
  void givenStoryThatGoesOtherwise_whenPlayed_thenItSaysSo() {
    try (Stage stage = new Stage(new PrintStream(told, true, UTF_8), null)) {
      assertThatThrownBy(() -> stage.expect(false, "pigs fly"))
          .isInstanceOf(NotAsToldException.class)
          .hasMessageContaining("pigs fly");
    }
  }

  @Test
  void givenNames_whenLookedUp_thenEachStoryIsFoundByItsOwn() {
    for (Hazard hazard : Hazards.all()) {
      assertThat(Hazards.find(hazard.name())).containsSame(hazard);
    }
    assertThat(Hazards.find("fire")).isEmpty();
  }
}
