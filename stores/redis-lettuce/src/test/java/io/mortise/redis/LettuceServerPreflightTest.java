package io.mortise.redis;

/** Refusals are the same over Lettuce. */
class LettuceServerPreflightTest extends ServerPreflightTest {
  @Override
  String transport() {
    return "lettuce";
  }
}
