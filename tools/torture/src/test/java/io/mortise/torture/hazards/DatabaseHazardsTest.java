package io.mortise.torture.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.RerunIfPaused;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Like {@link HazardsTest}, with a database; separate since starting one takes long. */
@Timeout(300)
@Tag("extended")
class DatabaseHazardsTest {
  @Test
  @RerunIfPaused
  void givenLockInADatabase_whenItsHolderOrTheDatabaseDies_thenItIsFreedOrKept() throws Exception {
    assertThat(HazardRunner.play("db-crash-holder")).contains("shut for ever", "A has it still");
  }
}
