package io.mortise.torture.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.guarantee.Answer;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.torture.history.Finding.Rule;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a run may see go wrong is what the guarantee table says of the store. */
class PromisesTest {
  private static final GuaranteeTable TABLE = GuaranteeTable.load();

  private static Set<Rule> mayBreak(String mode, Fault fault) {
    var effect = Promises.of(TABLE, mode, EnumSet.of(fault)).effects().get(fault.label());
    return effect == null ? Set.of() : effect.mayBreak();
  }

  @Test
  void givenCellThatSaysOnlyDelayed_thenNothingMayBreak() {
    assertThat(TABLE.cell("redis/always", "server-crash").answer()).isEqualTo(Answer.DELAYED);
    assertThat(mayBreak("redis/always", Fault.SERVER_CRASH)).isEmpty();
  }

  @Test
  void givenCellThatSaysDetectedByToken_thenTwoMayHold_andTokensKeepThemApart() {
    assertThat(TABLE.cell("redis/forgets", "server-crash").answer()).isEqualTo(Answer.DETECTED);
    assertThat(mayBreak("redis/forgets", Fault.SERVER_CRASH)).containsOnly(Rule.EXCLUSION);
  }

  @Test
  void givenCellThatSaysUnnoticed_thenTokensMayFailToo() {
    assertThat(TABLE.cell("redis-plain", "failover").answer()).isEqualTo(Answer.UNNOTICED);
    assertThat(mayBreak("redis-plain", Fault.FAILOVER)).contains(Rule.RISING_TOKENS);
  }

  @Test
  void givenClientsFault_thenWhoAsksItsLeaseIsNeverFooled_whateverHappensToOthers() {
    assertThat(TABLE.cell("redis/always", "client-pause").answer()).isEqualTo(Answer.DETECTED);
    assertThat(mayBreak("redis/always", Fault.PAUSE)).isEmpty();
    assertThat(mayBreak("redis/always", Fault.FULL_GC)).isEmpty();
  }

  @Test
  void givenStoreWithoutRow_thenNothingMayBreak() {
    Promises promises = Promises.of(TABLE, "", EnumSet.allOf(Fault.class));
    assertThat(promises.mode()).isEmpty();
    assertThat(promises.effects().values()).allMatch(effect -> effect.mayBreak().isEmpty());
  }

  @Test
  void givenFaultThatTheTableSaysCannotOccur_thenTheRunIsRefused() {
    assertThat(TABLE.cell("sqlite", "failover").answer()).isEqualTo(Answer.NONE);
    assertThatThrownBy(() -> Promises.of(TABLE, "sqlite", EnumSet.of(Fault.FAILOVER)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("sqlite cannot have the fault failover");
  }
}
