package io.mortise.redis;

import org.junit.jupiter.api.Tag;

/** Faults have the same outcome with Lettuce as with our own transport. */
@Tag("extended")
class LettuceFaultTest extends RedisFaultTest {
  @Override
  String transport() {
    return "lettuce";
  }
}
