package io.mortise.torture.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.guarantee.Answer;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.spi.Capability;
import io.mortise.torture.history.Effect;
import io.mortise.torture.history.Effect.Delay;
import io.mortise.torture.history.Finding.Rule;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a run may see go wrong is what the guarantee table says of the store. */
class PromisesTest {
  private static final GuaranteeTable TABLE = GuaranteeTable.load();
  private static final Set<Capability> SKIPS =
      EnumSet.of(Capability.QUEUE, Capability.SKIPS_DISCONNECTED);

  private static Effect effect(String mode, Fault fault) {
    Effect effect = Promises.of(TABLE, mode, SKIPS, EnumSet.of(fault)).effects().get(fault.label());
    return Objects.requireNonNull(effect);
  }

  private static Set<Rule> mayBreak(String mode, Fault fault) {
    return effect(mode, fault).mayBreak();
  }

  private static Delay delay(String mode, Fault fault) {
    return effect(mode, fault).delay();
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
  void givenSqliteOrH2_whenAProcessStandsStill_thenItMayHoldUpTheStore_andOneThatDiesMayNot() {
    for (Fault fault : List.of(Fault.PAUSE, Fault.FULL_GC)) {
      assertThat(delay("sqlite", fault)).isEqualTo(Delay.STORE);
      assertThat(delay("h2/immediate", fault)).isEqualTo(Delay.STORE);
      assertThat(delay("mysql", fault)).isEqualTo(Delay.PROCESS);
      assertThat(delay("redis/always", fault)).isEqualTo(Delay.PROCESS);
    }
    assertThat(delay("sqlite", Fault.KILL)).isEqualTo(Delay.PROCESS);
  }

  @Test
  void givenH2_whenAClientsNetworkIsSlow_thenItMayHoldUpOthersUntilThatIsOver() {
    assertThat(delay("h2/immediate", Fault.SLOW)).isEqualTo(Delay.LOST_WORD);
    assertThat(delay("postgresql", Fault.SLOW)).isEqualTo(Delay.SLOW);
  }

  @Test
  void givenStoreThatPassesOverKilledWaiters_thenTheyMayDelayNobody_elseForTheirSessions() {
    for (Fault fault : List.of(Fault.KILL_WAITER, Fault.KILL_CHAIN)) {
      assertThat(delay("redis/always", fault)).isEqualTo(Delay.WAITER);
      for (Capability lacking : SKIPS) {
        Set<Capability> others = EnumSet.complementOf(EnumSet.of(lacking));
        Promises promises = Promises.of(TABLE, "h2/immediate", others, EnumSet.of(fault));
        assertThat(promises.effects().get(fault.label()))
            .isEqualTo(Effect.of(Delay.WAITER_BY_SESSION));
      }
    }
  }

  @Test
  void givenStoreWithoutRow_thenNothingMayBreak() {
    Promises promises = Promises.of(TABLE, "", SKIPS, EnumSet.allOf(Fault.class));
    assertThat(promises.mode()).isEmpty();
    assertThat(promises.effects().values()).allMatch(effect -> effect.mayBreak().isEmpty());
  }

  @Test
  void givenFaultThatTheTableSaysCannotOccur_thenTheRunIsRefused() {
    assertThat(TABLE.cell("sqlite", "failover").answer()).isEqualTo(Answer.NONE);
    assertThatThrownBy(() -> Promises.of(TABLE, "sqlite", SKIPS, EnumSet.of(Fault.FAILOVER)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("sqlite cannot have the fault failover");
  }
}
