package io.mortise.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.StoreReport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Detection of host names, which may be moved, in a store's URL. */
class HostNamesTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      nullValues = "none",
      value = {
        "redis:cache.test:6379; cache.test",
        "redis:127.0.0.1:6379; none",
        "redis:[::1]:6379; none",
        "redis:localhost:6379; none",
        "redis-sentinel:a.test:26379,b:26379/main; a.test, b",
        "jdbc:postgresql://db.test/app; db.test",
        "jdbc:sqlite:/var/lib/locks.db; none",
        "etcd:e1:2379,e2:2379; e1, e2",
        "mem; none"
      })
  void givenDisplayedStore_thenItsNamesAreNoted(String display, String names) {
    StoreReport.Builder report = StoreReport.about("mode");
    StoreDiagnostics.hostNames(report, display);
    assertThat(report.build().findings())
        .extracting(StoreReport.Finding::value)
        .isEqualTo(names == null ? java.util.List.of() : java.util.List.of(names));
  }
}
