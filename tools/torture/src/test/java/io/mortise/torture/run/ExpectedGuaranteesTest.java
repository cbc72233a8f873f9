package io.mortise.torture.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.guarantee.GuaranteeLevel;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.spi.Capability;
import io.mortise.spi.StoreProfile;
import io.mortise.torture.history.FaultEffect;
import io.mortise.torture.history.FaultEffect.DelayBound;
import io.mortise.torture.history.HistoryViolation.SafetyRule;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The permitted violations of a run are those of the guarantee table. */
class ExpectedGuaranteesTest {
  private static final GuaranteeTable TABLE = GuaranteeTable.load();
  private static final Set<Capability> SKIPS =
      EnumSet.of(Capability.QUEUE, Capability.SKIPS_DISCONNECTED);
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final Duration LAG = Duration.ofSeconds(4);

  private static StoreProfile profile(Set<Capability> capabilities) {
    return new StoreProfile("a store", capabilities, TTL, TTL, LAG);
  }

  private static Duration expiry(String mode, Set<Capability> capabilities) {
    return ExpectedGuarantees.of(TABLE, mode, profile(capabilities), Set.of()).expiry(TTL);
  }

  @Test
  void givenStoreWithoutClock_thenADeadProcessHoldsForTwoTtls_andWithoutSessionsForTheLagToo() {
    Set<Capability> all = EnumSet.allOf(Capability.class);
    assertThat(expiry("etcd", all)).isEqualTo(TTL.multipliedBy(2));
    assertThat(expiry("consul/memory", all)).isEqualTo(TTL.multipliedBy(2));
    assertThat(expiry("dynamodb", all)).isEqualTo(TTL.multipliedBy(2));
    assertThat(expiry("memcached", Set.of())).isEqualTo(TTL.plus(LAG));
    assertThat(expiry("redis/always", all)).isEqualTo(TTL);
  }

  @Test
  void givenStoreThatDelaysCrowds_thenTheirNextHasTheLockWithinATtl_elseWithinAThird() {
    assertThat(crowdDelay("etcd")).isEqualTo(Duration.ofSeconds(4).dividedBy(3));
    assertThat(crowdDelay("postgresql")).isZero();
    assertThat(crowdDelay("of nobody")).isZero();
  }

  private static Duration crowdDelay(String mode) {
    return ExpectedGuarantees.of(TABLE, mode, profile(SKIPS), Set.of()).crowdDelay(TTL);
  }

  private static FaultEffect effect(String mode, InjectedFault injectedFault) {
    FaultEffect faultEffect =
        ExpectedGuarantees.of(TABLE, mode, profile(SKIPS), EnumSet.of(injectedFault))
            .effects()
            .get(injectedFault.label());
    return Objects.requireNonNull(faultEffect);
  }

  private static Set<SafetyRule> mayBreak(String mode, InjectedFault injectedFault) {
    return effect(mode, injectedFault).mayBreak();
  }

  private static DelayBound delay(String mode, InjectedFault injectedFault) {
    return effect(mode, injectedFault).delay();
  }

  @Test
  void givenStoreWithoutClock_whenItForgets_thenItsTokensAreSetBack_andThoseOfOthersGoOn() {
    assertThat(effect("nats", InjectedFault.POWER_CUT).setsTokensBack()).isTrue();
    assertThat(effect("etcd", InjectedFault.POWER_CUT).setsTokensBack()).isFalse();
    assertThat(mayBreak("redis-plain", InjectedFault.FAILOVER)).contains(SafetyRule.RISING_TOKENS);
    assertThat(effect("redis-plain", InjectedFault.FAILOVER).setsTokensBack()).isFalse();
  }

  @Test
  void givenCellThatSaysOnlyDelayed_thenNothingMayBreak() {
    assertThat(TABLE.cell("redis/always", "server-crash").answer())
        .isEqualTo(GuaranteeLevel.DELAYED);
    assertThat(mayBreak("redis/always", InjectedFault.SERVER_CRASH)).isEmpty();
  }

  @Test
  void givenCellThatSaysDetectedByToken_thenTwoMayHold_andTokensKeepThemApart() {
    assertThat(TABLE.cell("redis/forgets", "server-crash").answer())
        .isEqualTo(GuaranteeLevel.DETECTED);
    assertThat(mayBreak("redis/forgets", InjectedFault.SERVER_CRASH))
        .containsOnly(SafetyRule.EXCLUSION);
  }

  @Test
  void givenCellThatSaysUnnoticed_thenTokensMayFailToo() {
    assertThat(TABLE.cell("redis-plain", "failover").answer()).isEqualTo(GuaranteeLevel.UNNOTICED);
    assertThat(mayBreak("redis-plain", InjectedFault.FAILOVER)).contains(SafetyRule.RISING_TOKENS);
  }

  @Test
  void givenClientsFault_thenWhoAsksItsLeaseIsNeverFooled_whateverHappensToOthers() {
    assertThat(TABLE.cell("redis/always", "client-pause").answer())
        .isEqualTo(GuaranteeLevel.DETECTED);
    assertThat(mayBreak("redis/always", InjectedFault.PAUSE)).isEmpty();
    assertThat(mayBreak("redis/always", InjectedFault.FULL_GC)).isEmpty();
  }

  @Test
  void givenSqlite_whenAProcessStandsStill_thenItMayHoldUpTheStore_andOneThatDiesMayNot() {
    for (InjectedFault injectedFault : List.of(InjectedFault.PAUSE, InjectedFault.FULL_GC)) {
      assertThat(delay("sqlite", injectedFault)).isEqualTo(DelayBound.STORE);
      assertThat(delay("mysql", injectedFault)).isEqualTo(DelayBound.PROCESS);
      assertThat(delay("redis/always", injectedFault)).isEqualTo(DelayBound.PROCESS);
    }
    assertThat(delay("sqlite", InjectedFault.KILL)).isEqualTo(DelayBound.PROCESS);
  }

  @Test
  void givenStoreThatPassesOverKilledWaiters_thenTheyMayDelayNobody_elseForTheirSessions() {
    for (InjectedFault injectedFault :
        List.of(InjectedFault.KILL_WAITER, InjectedFault.KILL_CHAIN)) {
      assertThat(delay("redis/always", injectedFault)).isEqualTo(DelayBound.WAITER);
      for (Capability lacking : SKIPS) {
        Set<Capability> others = EnumSet.complementOf(EnumSet.of(lacking));
        ExpectedGuarantees expectedGuarantees =
            ExpectedGuarantees.of(
                TABLE, "database/lazy", profile(others), EnumSet.of(injectedFault));
        assertThat(expectedGuarantees.effects().get(injectedFault.label()))
            .isEqualTo(FaultEffect.of(DelayBound.WAITER_BY_SESSION));
      }
    }
  }

  @Test
  void givenStoreWithoutRow_thenNothingMayBreak() {
    ExpectedGuarantees expectedGuarantees =
        ExpectedGuarantees.of(TABLE, "", profile(SKIPS), EnumSet.allOf(InjectedFault.class));
    assertThat(expectedGuarantees.mode()).isEmpty();
    assertThat(expectedGuarantees.effects().values())
        .allMatch(faultEffect -> faultEffect.mayBreak().isEmpty());
  }

  @Test
  void givenFaultThatTheTableSaysCannotOccur_thenTheRunIsRefused() {
    assertThat(TABLE.cell("sqlite", "failover").answer()).isEqualTo(GuaranteeLevel.NONE);
    assertThatThrownBy(
            () ->
                ExpectedGuarantees.of(
                    TABLE, "sqlite", profile(SKIPS), EnumSet.of(InjectedFault.FAILOVER)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("sqlite cannot have the fault failover");
  }
}
