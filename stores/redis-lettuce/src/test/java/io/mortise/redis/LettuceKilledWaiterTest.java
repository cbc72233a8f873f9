package io.mortise.redis;

import org.junit.jupiter.api.Tag;

/** Killed waiters, by Lettuce. */
@Tag("extended")
class LettuceKilledWaiterTest extends KilledWaiterTest {
  @Override
  String transport() {
    return "lettuce";
  }
}
