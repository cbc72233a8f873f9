package io.mortise.redis;

import org.junit.jupiter.api.Tag;

/** Requests whose answer nobody waits for, by Lettuce. */
@Tag("extended")
class LettuceDeferredReleaseTest extends DeferredReleaseTest {
  @Override
  String transport() {
    return "lettuce";
  }
}
