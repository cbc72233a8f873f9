package io.mortise.redis;

/** Refusals are the same over Lettuce. */
class LettuceServerCheckTest extends ServerCheckTest {
  @Override
  String wire() {
    return "lettuce";
  }
}
