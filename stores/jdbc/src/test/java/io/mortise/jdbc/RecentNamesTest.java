package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecentNamesTest {
  private final RecentNames names = new RecentNames();

  private static List<LockName> some(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> LockName.of(prefix + i)).toList();
  }

  @Test
  void givenNamesThatWereAdded_thenTheyAreKnown_andHardlyAnyOther() {
    List<LockName> added = some("order/", 1_000);
    added.forEach(names::add);
    assertThat(added).allMatch(names::has);
    assertThat(some("invoice/", 1_000).stream().filter(names::has).count()).isLessThan(50);
  }

  @Test
  void givenVeryManyNames_thenFormerOnesAreForgotten_andMostOfAllNewOnesAreStillTold() {
    some("order/", 1_000_000).forEach(names::add);
    assertThat(some("invoice/", 1_000).stream().filter(names::has).count()).isLessThan(700);
    LockName last = LockName.of("last");
    names.add(last);
    assertThat(names.has(last)).isTrue();
  }
}
