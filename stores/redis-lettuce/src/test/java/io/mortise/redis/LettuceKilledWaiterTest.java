package io.mortise.redis;

import org.junit.jupiter.api.Tag;

/** Waiters that die, by Lettuce. */
@Tag("extended")
class LettuceKilledWaiterTest extends KilledWaiterTest {
  @Override
  String transport() {
    return "lettuce";
  }
}
