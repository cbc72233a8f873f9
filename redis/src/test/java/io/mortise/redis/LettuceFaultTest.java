package io.mortise.redis;

/** Faults met by Lettuce end as those that our own wire meets. */
class LettuceFaultTest extends FaultTest {
  @Override
  String wire() {
    return "lettuce";
  }
}
