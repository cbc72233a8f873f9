package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.console.internal.view.NestedRuns;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the tool calls itself in a store. */
class StoreConnectorTest {
  @TempDir Path folder;

  private String nameWith(Map<String, String> variables) {
    String url = "jdbc:sqlite:" + folder.resolve("locks.db");
    try (LockClient client = new StoreConnector(variables).connect(url, null);
        Lease lease = client.lock("a").tryAcquire().orElseThrow()) {
      assertThat(lease.isValid()).isTrue();
      return client.admin().find("a").orElseThrow().holders().get(0).client().name();
    }
  }

  @Test
  void givenToolInTheCommandOfAnother_thenItsNameSaysInWhich_andOtherwiseNot() {
    assertThat(nameWith(Map.of())).isEqualTo("mortise");
    assertThat(nameWith(Map.of(NestedRuns.VARIABLE, "4711"))).isEqualTo("mortise in 4711");
    assertThat(nameWith(Map.of(NestedRuns.VARIABLE, "1; rm"))).isEqualTo("mortise");
  }
}
