package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.GroupLease;
import io.mortise.LockClient;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testkit.server.LocalServer;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The time to give up locks of a store that does not answer. */
@Tag("extended")
class GroupCloseTest {
  private static final int LOCKS = 8;

  @ParameterizedTest
  @CsvSource({
    "REDIS, timeout, 1",
    "POSTGRESQL, max-in-flight, 2",
    "MARIADB, max-in-flight, 4",
    "ETCD, timeout, 1",
  })
  @Report({"mike-marcacci/node-redlock#309", "mike-marcacci/node-redlock#313"})
  void givenStoreThatIsSilent_whenAGroupIsClosed_thenItTakesAsLongAsOneLock(
      FieldStore store, String limit, int seconds) throws InterruptedException {
    LocalServer server = store.shared();
    try (FaultInjectionProxy proxy = FaultInjectionProxy.to(server.port())) {
      String url =
          FieldStore.with(
              FieldStore.through(proxy, server, store.newUrl(server)), limit + "=" + seconds + "s");
      try (LockClient client = LockClient.builder().url(url).ttl(Duration.ofMinutes(2)).build()) {
        GroupLease group =
            client
                .allOf(IntStream.range(0, LOCKS).mapToObj(i -> "x" + i).toArray(String[]::new))
                .acquire();
        proxy.condition(NetworkCondition.FROZEN);
        long began = System.nanoTime();
        group.close();
        // Sequential releases would take sixteen times as long.
        assertThat(Duration.ofNanos(System.nanoTime() - began))
            .isLessThan(Duration.ofSeconds(2 * seconds + 6));
        assertThat(group.isValid()).isFalse();
        proxy.condition(NetworkCondition.FAIR);
      }
    }
  }
}
