package io.mortise.redis;

/** Waiters that die, by Lettuce. */
class LettuceKilledWaiterTest extends KilledWaiterTest {
  @Override
  String transport() {
    return "lettuce";
  }
}
