package io.mortise.internal.engine.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.Mode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ClaimTableTest {

  @Test
  void givenManyClaims_whenSomeAreRemoved_thenTheRestIsFoundNewestFirst() {
    Random random = new Random(7);
    ClaimTable table = new ClaimTable();
    Map<LockName, List<Claim>> expected = new HashMap<>();
    for (int step = 0; step < 20_000; step++) {
      LockName name = LockName.of("orders/" + random.nextInt(500));
      List<Claim> same = expected.computeIfAbsent(name, absent -> new ArrayList<>());
      if (!same.isEmpty() && random.nextInt(5) < 2) {
        table.remove(same.remove(random.nextInt(same.size())));
      } else {
        Claim claim = new Claim(name, Mode.EXCLUSIVE, HoldTerms.NONE, false);
        table.add(claim);
        same.add(0, claim);
      }
    }

    int size = 0;
    for (Map.Entry<LockName, List<Claim>> entry : expected.entrySet()) {
      assertThat(claims(table, entry.getKey())).isEqualTo(entry.getValue());
      size += entry.getValue().size();
    }
    List<Claim> all = new ArrayList<>();
    table.forEach(all::add);
    assertThat(all).hasSize(size).doesNotHaveDuplicates();
    assertThat(table.size()).isEqualTo(size);
  }

  @Test
  void givenAClaimThatIsNotThere_whenItIsRemoved_thenNothingHappens() {
    ClaimTable table = new ClaimTable();
    Claim there = new Claim(LockName.of("a"), Mode.EXCLUSIVE, HoldTerms.NONE, false);
    table.add(there);

    table.remove(new Claim(LockName.of("a"), Mode.EXCLUSIVE, HoldTerms.NONE, false));

    assertThat(claims(table, LockName.of("a"))).containsExactly(there);
    assertThat(table.size()).isEqualTo(1);
  }

  private static List<Claim> claims(ClaimTable table, LockName name) {
    List<Claim> found = new ArrayList<>();
    for (Claim claim = table.first(name); claim != null; claim = table.after(claim)) {
      found.add(claim);
    }
    return found;
  }
}
