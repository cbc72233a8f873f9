package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.StoreUrl;
import java.time.Duration;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/** The driver's settings for several hosts. */
class PostgresHostsTest {
  @Test
  void givenSeveralHosts_thenThePrimaryIsLookedFor_andAPromotedOneIsSoonKnown() {
    assertThat(properties("jdbc:postgresql://a,b/app"))
        .containsEntry("targetServerType", "primary")
        .containsEntry("hostRecheckSeconds", "1");
    assertThat(properties("jdbc:postgresql://a/app"))
        .doesNotContainKeys("targetServerType", "hostRecheckSeconds");
  }

  private static Properties properties(String url) {
    return new PostgresDialect().target(StoreUrl.parse(url), Duration.ofSeconds(5)).properties();
  }
}
