package io.mortise.redis;

/** TLS by Lettuce. */
class LettuceTlsTest extends TlsTest {
  @Override
  String transport() {
    return "lettuce";
  }
}
