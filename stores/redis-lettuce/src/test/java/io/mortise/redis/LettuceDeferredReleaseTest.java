package io.mortise.redis;

/** Requests whose answer no caller awaits, by Lettuce. */
class LettuceDeferredReleaseTest extends DeferredReleaseTest {
  @Override
  String transport() {
    return "lettuce";
  }
}
