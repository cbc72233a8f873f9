package io.mortise.redis;

/** Killed waiters, by Lettuce. */
class LettuceKilledWaiterTest extends KilledWaiterTest {
  @Override
  String transport() {
    return "lettuce";
  }
}
