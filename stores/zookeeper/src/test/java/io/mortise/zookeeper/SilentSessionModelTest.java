package io.mortise.zookeeper;

import static io.mortise.verification.model.ModelAssert.assertBroken;
import static io.mortise.verification.model.ModelAssert.assertSafe;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The end of a session whose beat stands still, in all orders of events. Without a server. */
class SilentSessionModelTest {
  @Test
  void givenWaiterThatFreesALock_thenItsHolderDoesNotBelieve() {
    assertSafe("silence", new SilentSessionModel(SilentSessionModel.Variant.BUILT, 3, 3));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BUILT")
  void givenARuleIsMissing_thenTheHolderMayBelieve(SilentSessionModel.Variant without) {
    assertBroken("silence, " + without, new SilentSessionModel(without, 3, 3));
  }

  @Test
  @Timeout(1800)
  @EnabledIfSystemProperty(named = "mortise.model.long", matches = "true")
  void givenALongerTtl_thenTheLongFormFindsNothing() {
    assertSafe("silence, long", new SilentSessionModel(SilentSessionModel.Variant.BUILT, 5, 5));
  }
}
