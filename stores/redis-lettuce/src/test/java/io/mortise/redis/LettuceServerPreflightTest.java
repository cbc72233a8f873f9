package io.mortise.redis;

import org.junit.jupiter.api.Tag;

/** Refusals are the same over Lettuce. */
@Tag("extended")
class LettuceServerPreflightTest extends ServerPreflightTest {
  @Override
  String transport() {
    return "lettuce";
  }
}
