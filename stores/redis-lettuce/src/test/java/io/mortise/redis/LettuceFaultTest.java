package io.mortise.redis;

/** Faults have the same outcome with Lettuce as with our own transport. */
class LettuceFaultTest extends RedisFaultTest {
  @Override
  String transport() {
    return "lettuce";
  }

  /** Lettuce logs the reason, and does not report it. */
  @Override
  String refusedPassword() {
    return "There is no connection";
  }
}
