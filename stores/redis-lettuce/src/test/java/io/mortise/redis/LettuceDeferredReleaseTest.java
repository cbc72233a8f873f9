package io.mortise.redis;

/** Requests whose answer nobody waits for, by Lettuce. */
class LettuceDeferredReleaseTest extends DeferredReleaseTest {
  @Override
  String transport() {
    return "lettuce";
  }
}
