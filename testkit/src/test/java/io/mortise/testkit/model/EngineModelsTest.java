package io.mortise.testkit.model;

import static io.mortise.testkit.model.ModelAssert.assertBroken;
import static io.mortise.testkit.model.ModelAssert.assertSafe;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rules of the engine and of the lock table, every run of them for a few processes; and what
 * becomes of it when one is taken away.
 */
class EngineModelsTest {
  @Test
  void givenLateRequestsAndLostAnswers_thenNoLeftoverKeepsALockFromWhoeverWaits() {
    assertSafe("leftovers", new LeftoverModel(LeftoverModel.Variant.BUILT, 2, 1, false));
  }

  @Test
  void givenRequestsThatArriveInTime_thenNoLeftoverHolds_alsoIfNobodyWaits() {
    assertSafe("leftovers, in time", new LeftoverModel(LeftoverModel.Variant.BUILT, 2, 1, true));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleAboutLeftoversIsMissing_thenOneKeepsTheLock(LeftoverModel.Variant without) {
    boolean inTime = without == LeftoverModel.Variant.ENDS_ONCE;
    assertBroken("leftovers, " + without, new LeftoverModel(without, 2, 1, inTime));
  }

  @Test
  void givenHandOversCancelsDeathsAndLostPushes_thenTheLockGoesOnInOrder() {
    assertSafe("hand-over", new HandOverModel(HandOverModel.Variant.BUILT, 3, 1, 0));
    assertSafe("hand-over, cut", new HandOverModel(HandOverModel.Variant.BUILT, 3, 0, 1));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleOfHandOverIsMissing_thenItIsFoundBroken(HandOverModel.Variant without) {
    assertBroken("hand-over, " + without, new HandOverModel(without, 3, 2, 1));
  }

  @Test
  void givenReadersWithoutEnd_thenAWriterIsNotKeptWaiting() {
    assertSafe("readers", new ReadersModel(ReadersModel.Variant.BUILT, 3, 3));
    assertSafe("readers that join", new ReadersModel(ReadersModel.Variant.JOINS, 3, 3));
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"BUILT", "JOINS"})
  void givenARuleAboutReadersIsMissing_thenTheWriterStarves(ReadersModel.Variant without) {
    assertBroken("readers, " + without, new ReadersModel(without, 3, 3));
  }

  @Test
  void givenStrictExpiry_thenNoSessionIsEndedThatItsOwnerBelievesIn() {
    assertSafe("strict", new StrictModel(StrictModel.Variant.BUILT, 4, 4));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleOfStrictExpiryIsMissing_thenItIsFoundBroken(StrictModel.Variant without) {
    assertBroken("strict, " + without, new StrictModel(without, 4, 4));
  }

  @Test
  @Timeout(1800)
  @EnabledIfSystemProperty(named = "mortise.model.long", matches = "true")
  void givenMoreOfEverything_thenTheLongFormFindsNothing() {
    assertSafe("leftovers, long", new LeftoverModel(LeftoverModel.Variant.BUILT, 2, 2, false));
    assertSafe(
        "leftovers in time, long", new LeftoverModel(LeftoverModel.Variant.BUILT, 2, 2, true));
    assertSafe("hand-over, long", new HandOverModel(HandOverModel.Variant.BUILT, 3, 2, 1));
    assertSafe("readers, long", new ReadersModel(ReadersModel.Variant.BUILT, 8, 6));
    assertSafe("readers that join, long", new ReadersModel(ReadersModel.Variant.JOINS, 8, 6));
    assertSafe("strict, long", new StrictModel(StrictModel.Variant.BUILT, 6, 6));
  }
}
