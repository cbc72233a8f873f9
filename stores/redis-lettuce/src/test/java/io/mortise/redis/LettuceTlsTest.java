package io.mortise.redis;

import io.mortise.testserver.RedisServer;
import org.junit.jupiter.api.Test;

/** TLS by Lettuce. */
class LettuceTlsTest extends TlsTest {
  @Override
  String transport() {
    return "lettuce";
  }

  @Test
  void givenServerThatWantsAClientCertificate_thenThatOfTheJvmIsTaken_withItsTrustStore() {
    try (RedisServer server = start("yes")) {
      setStore("trustStore", "keys.p12");
      assertClientCertificateIsTaken(url(server, "127.0.0.1") + "?timeout=20s");
    }
  }
}
