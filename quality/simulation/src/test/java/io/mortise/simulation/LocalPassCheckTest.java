package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import org.junit.jupiter.api.Test;

class LocalPassCheckTest {
  private static final AttemptId ATTEMPT = new AttemptId(new SessionId("AAAAAAAAAAAA"), 1);
  private static final long LATE = LocalPassCheck.BOUND_NANOS + 1;

  private final LocalPassCheck localPassCheck = new LocalPassCheck();

  // Seed 3000340.
  @Test
  void givenClockPassesItsEnd_whenLeaseBegins_thenPassesCountFromThere() {
    long heardAt = Long.MAX_VALUE - 1_000;
    localPassCheck.knowsWanted(ATTEMPT, heardAt);

    localPassCheck.begins(ATTEMPT, heardAt + LATE);

    assertThat(localPassCheck.excessOfPass(ATTEMPT, heardAt + LATE + 1)).isZero();
  }

  @Test
  void givenClockPassesItsEnd_whenPassedTooLate_thenTheExcessIsFound() {
    long heardAt = Long.MAX_VALUE - 1_000;
    localPassCheck.knowsWanted(ATTEMPT, heardAt);
    localPassCheck.begins(ATTEMPT, heardAt);

    assertThat(localPassCheck.excessOfPass(ATTEMPT, heardAt + LATE)).isEqualTo(LATE);
    assertThat(localPassCheck.excessOfPass(ATTEMPT, heardAt + LATE - 1)).isZero();
  }

  @Test
  void givenNoteAfterTheLeaseBegan_whenAnotherComes_thenTheFirstCounts() {
    localPassCheck.begins(ATTEMPT, 0);
    localPassCheck.knowsWanted(ATTEMPT, 10);
    localPassCheck.knowsWanted(ATTEMPT, 10 + LATE);

    assertThat(localPassCheck.excessOfPass(ATTEMPT, 10 + LATE)).isEqualTo(LATE);
  }

  @Test
  void givenNobodyIsKnownToWait_whenPassed_thenAnyTimeIsGood() {
    localPassCheck.begins(ATTEMPT, 0);

    assertThat(localPassCheck.excessOfPass(ATTEMPT, LATE)).isZero();
  }
}
