package io.mortise.simulation.model;

import static io.mortise.verification.model.ModelAssert.assertBroken;
import static io.mortise.verification.model.ModelAssert.assertSafe;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Model checks of engine and lock table rules, exhaustive for a few processes; each removed rule
 * must break its model.
 */
class EngineModelsTest {
  @Test
  void givenLateRequestsAndLostAnswers_thenNoLeftoverKeepsALockFromWhoeverWaits() {
    assertSafe(
        "leftovers", new OrphanedAttemptModel(OrphanedAttemptModel.Variant.BUILT, 2, 1, false));
  }

  @Test
  void givenRequestsThatArriveInTime_thenNoLeftoverHolds_alsoIfNobodyWaits() {
    assertSafe(
        "leftovers, in time",
        new OrphanedAttemptModel(OrphanedAttemptModel.Variant.BUILT, 2, 1, true));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleAboutLeftoversIsMissing_thenOneKeepsTheLock(OrphanedAttemptModel.Variant without) {
    boolean inTime = without == OrphanedAttemptModel.Variant.ENDS_ONCE;
    assertBroken("leftovers, " + without, new OrphanedAttemptModel(without, 2, 1, inTime));
  }

  @Test
  void givenHandOffsCancelsDeathsAndLostPushes_thenTheLockGoesOnInOrder() {
    assertSafe("hand-off", new HandoffModel(HandoffModel.Variant.BUILT, 3, 1, 0));
    assertSafe("hand-off, cut", new HandoffModel(HandoffModel.Variant.BUILT, 3, 0, 1));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleOfHandOffIsMissing_thenItIsFoundBroken(HandoffModel.Variant without) {
    assertBroken("hand-off, " + without, new HandoffModel(without, 3, 2, 1));
  }

  @Test
  void givenIdleGrantsCallBacksLostPushesAndLostSessions_thenNobodyWaitsForAnUnusedGrant() {
    assertSafe("sticky", new StickyModel(StickyModel.Variant.BUILT, 4, 3));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleAboutIdleGrantsIsMissing_thenItIsFoundBroken(StickyModel.Variant without) {
    assertBroken("sticky, " + without, new StickyModel(without, 4, 3));
  }

  @Test
  void givenIdleGrantsWithoutPushes_thenALookFindsEachCallBack() {
    assertSafe("call-backs", new CallBackPollModel(CallBackPollModel.Variant.BUILT, 3));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleAboutLooksIsMissing_thenItIsFoundBroken(CallBackPollModel.Variant without) {
    assertBroken("call-backs, " + without, new CallBackPollModel(without, 3));
  }

  @Test
  void givenDeathsTimeoutsAndLostAnswers_thenAGenerationPassesOrBreaksForAll() {
    assertSafe("barrier", new BarrierModel(BarrierModel.Variant.BUILT, 2, 2));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleOfTheBarrierIsMissing_thenItIsFoundBroken(BarrierModel.Variant without) {
    // One variant removes a rule that is not in force: a dead party is detected a TTL later.
    assertBroken("barrier, " + without, new BarrierModel(without, 2, 2));
  }

  @Test
  void givenLateRequestsLostAnswersDeathsAndEnds_thenEachPartyCountsOnceInItsLatch() {
    assertSafe("latch", new LatchModel(LatchModel.Variant.BUILT, 1, 1));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleOfTheLatchIsMissing_thenItIsFoundBroken(LatchModel.Variant without) {
    assertBroken("latch, " + without, new LatchModel(without, 1, 1));
  }

  @Test
  void givenReadersWithoutEnd_thenAWriterIsNotKeptWaiting() {
    assertSafe("readers", new WriterStarvationModel(WriterStarvationModel.Variant.BUILT, 3, 3));
    assertSafe(
        "readers that join", new WriterStarvationModel(WriterStarvationModel.Variant.JOINS, 3, 3));
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"BUILT", "JOINS"})
  void givenARuleAboutReadersIsMissing_thenTheWriterStarves(WriterStarvationModel.Variant without) {
    assertBroken("readers, " + without, new WriterStarvationModel(without, 3, 3));
  }

  @Test
  void givenStrictExpiry_thenNoSessionIsEndedThatItsOwnerBelievesIn() {
    assertSafe("strict", new StrictExpiryModel(StrictExpiryModel.Variant.BUILT, 4, 4));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleOfStrictExpiryIsMissing_thenItIsFoundBroken(StrictExpiryModel.Variant without) {
    assertBroken("strict, " + without, new StrictExpiryModel(without, 4, 4));
  }

  @Test
  void givenTwoObserversLateWritesAndFastClocks_thenNoLockOpensWithinItsAtLeastTime() {
    assertSafe("at least", new AtLeastModel(AtLeastModel.Variant.BUILT, 2, 3, 2));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleOfAtLeastTimesIsMissing_thenItIsFoundBroken(AtLeastModel.Variant without) {
    int length = without == AtLeastModel.Variant.IGNORES_RATES ? 5 : 2;
    assertBroken("at least, " + without, new AtLeastModel(without, length, 4, 2));
  }

  @Test
  @Timeout(1800)
  @EnabledIfSystemProperty(named = "mortise.model.long", matches = "true")
  void givenMoreOfEverything_thenTheLongFormFindsNothing() {
    assertSafe(
        "leftovers, long",
        new OrphanedAttemptModel(OrphanedAttemptModel.Variant.BUILT, 2, 2, false));
    assertSafe(
        "leftovers in time, long",
        new OrphanedAttemptModel(OrphanedAttemptModel.Variant.BUILT, 2, 2, true));
    assertSafe("hand-off, long", new HandoffModel(HandoffModel.Variant.BUILT, 3, 2, 1));
    assertSafe(
        "readers, long", new WriterStarvationModel(WriterStarvationModel.Variant.BUILT, 8, 6));
    assertSafe(
        "readers that join, long",
        new WriterStarvationModel(WriterStarvationModel.Variant.JOINS, 8, 6));
    assertSafe("barrier, long", new BarrierModel(BarrierModel.Variant.BUILT, 2, 3));
    assertSafe("latch, long", new LatchModel(LatchModel.Variant.BUILT, 2, 2));
    assertSafe("at least, long", new AtLeastModel(AtLeastModel.Variant.BUILT, 3, 5, 3));
    assertSafe("strict, long", new StrictExpiryModel(StrictExpiryModel.Variant.BUILT, 6, 6));
  }
}
