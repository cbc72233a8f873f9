package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.console.view.NestedRuns;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tool's name in a store, and its drivers. */
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

  /** Optional dependencies that the AWS SDK loads by name. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "sts.internal.StsProfileCredentialsProviderFactory",
        "sts.internal.StsWebIdentityCredentialsProviderFactory",
        "sso.auth.SsoProfileCredentialsProviderFactory",
        "ssooidc.SsoOidcProfileTokenProviderFactory"
      })
  void givenTool_thenItHasThePartsOfAwsForWebIdentitiesRolesAndSso(String name) {
    assertThatCode(() -> Class.forName("software.amazon.awssdk.services." + name))
        .doesNotThrowAnyException();
  }
}
