package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.support.document.DocumentStore;
import io.mortise.testkit.server.LocalServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ClocklessStoreUnderTestTest {
  private static LocalServer none() {
    throw new AssertionError("no server is needed");
  }

  @Test
  void givenDocumentsWithOrWithoutAWatch_thenItClaimsWhatSuchAStoreCanDo() {
    ClocklessStoreUnderTest watched =
        new ClocklessStoreUnderTest(ClocklessStoreUnderTestTest::none);
    assertThat(watched.capabilities())
        .isEqualTo(DocumentStore.clocklessProfile("x", Duration.ofSeconds(1)).capabilities());
    assertThat(watched.withoutPush().capabilities())
        .isEqualTo(DocumentStore.CAPABILITIES_WITHOUT_CLOCK);
  }
}
