package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.MemStoreUnderTest;
import org.junit.jupiter.api.Test;

/** A test that failed in a pause is rerun on the same instance of its suite. */
class ClientSuiteTest extends ClientSuite {
  ClientSuiteTest() {
    super(new MemStoreUnderTest());
  }

  @Test
  void givenSuiteThatWasClosed_whenItIsPreparedAgain_thenItRunsTasksAndProcesses()
      throws InterruptedException {
    assertThat(get(acquiring(peer("first").lock())).isValid()).isTrue();
    closeAll();
    openStore();
    assertThat(get(acquiring(peer("second").lock())).isValid()).isTrue();
  }
}
