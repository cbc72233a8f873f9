package io.mortise.zookeeper.internal;

import static io.mortise.verification.model.ModelAssert.assertBroken;
import static io.mortise.verification.model.ModelAssert.assertSafe;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The proof value of an answer about a session, for any delays. Without a server. */
class LeaderContactModelTest {
  @Test
  void givenAFollowerInBetween_thenNobodyCountsOnASessionThatTheLeaderHasEnded() {
    assertSafe("touches", new LeaderContactModel(LeaderContactModel.Variant.BUILT, 4, 1));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenAWeakerRule_thenSomebodyDoes(LeaderContactModel.Variant weaker) {
    assertBroken("touches, " + weaker, new LeaderContactModel(weaker, 4, 1));
  }

  @Test
  @Timeout(1800)
  @EnabledIfSystemProperty(named = "mortise.model.long", matches = "true")
  void givenALongerTimeout_thenTheLongFormFindsNothing() {
    assertSafe("touches, long", new LeaderContactModel(LeaderContactModel.Variant.BUILT, 7, 1));
  }
}
