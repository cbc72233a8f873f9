package io.mortise.zookeeper;

import static io.mortise.testkit.model.ModelAssert.assertBroken;
import static io.mortise.testkit.model.ModelAssert.assertSafe;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What an answer proves of a session when lines may stand still for any time. {@code Touches} asks
 * for less than the one rule that is safe then: see docs/models.md.
 */
class TouchesModelTest {
  @Test
  void givenThreeRequestsInARow_thenNobodyCountsOnASessionThatTheLeaderHasEnded() {
    assertSafe("touches", new TouchesModel(TouchesModel.Variant.THREE_REQUESTS, 4, 1));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "THREE_REQUESTS")
  void givenAWeakerRule_thenSomebodyDoes(TouchesModel.Variant weaker) {
    assertBroken("touches, " + weaker, new TouchesModel(weaker, 4, 1));
  }

  @Test
  @Timeout(1800)
  @EnabledIfSystemProperty(named = "mortise.model.long", matches = "true")
  void givenALongerTimeout_thenTheLongFormFindsNothing() {
    assertSafe("touches, long", new TouchesModel(TouchesModel.Variant.THREE_REQUESTS, 7, 1));
  }
}
