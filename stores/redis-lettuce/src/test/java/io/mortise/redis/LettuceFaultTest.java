package io.mortise.redis;

import org.junit.jupiter.api.Tag;

/** Faults met by Lettuce end as those that our own transport meets. */
@Tag("extended")
class LettuceFaultTest extends RedisFaultTest {
  @Override
  String transport() {
    return "lettuce";
  }

  /** Lettuce logs it, and does not tell. */
  @Override
  String refusedPassword() {
    return "There is no connection";
  }
}
