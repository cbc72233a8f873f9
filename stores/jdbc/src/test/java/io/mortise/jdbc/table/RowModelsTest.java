package io.mortise.jdbc.table;

import static io.mortise.verification.model.ModelAssert.assertBroken;
import static io.mortise.verification.model.ModelAssert.assertSafe;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Statements and the rows they see under READ COMMITTED, in every order; without one of the rules,
 * locks break. No database is asked.
 */
class RowModelsTest {
  @Test
  void givenSessionsJudgedInAStepOfTheirOwn_thenWhoBelievesHasTheRow() {
    assertSafe("judgement", new SessionExpiryModel(SessionExpiryModel.Variant.BUILT, 2, 2));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleOfJudgingIsMissing_thenTwoHaveTheLock(SessionExpiryModel.Variant without) {
    assertBroken("judgement, " + without, new SessionExpiryModel(without, 2, 2));
  }

  @Test
  void givenTheRowIsLockedBeforeWaitersAreRead_thenNoneIsForgotten() {
    assertSafe("rows", new HandoffRowsModel(HandoffRowsModel.Variant.BUILT, 3));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleOfHandOffIsMissing_thenAWaiterIsForgotten(HandoffRowsModel.Variant without) {
    assertBroken("rows, " + without, new HandoffRowsModel(without, 3));
  }

  @Test
  @Timeout(1800)
  @EnabledIfSystemProperty(named = "mortise.model.long", matches = "true")
  void givenMoreProcesses_thenTheLongFormFindsNothing() {
    assertSafe("judgement, three", new SessionExpiryModel(SessionExpiryModel.Variant.BUILT, 3, 1));
    assertSafe("judgement, long", new SessionExpiryModel(SessionExpiryModel.Variant.BUILT, 2, 3));
    assertSafe("rows, long", new HandoffRowsModel(HandoffRowsModel.Variant.BUILT, 4));
  }
}
