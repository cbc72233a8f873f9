package io.mortise.torture.run;

import io.mortise.guarantee.Guarantee;
import io.mortise.guarantee.GuaranteeLevel;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.guarantee.StoreMode;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreUrl;
import io.mortise.torture.history.FaultEffect;
import io.mortise.torture.history.FaultEffect.DelayBound;
import io.mortise.torture.history.HistoryViolation.SafetyRule;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/**
 * The guarantees of the store under torture, in its setup, by the guarantee table: a run with
 * further violations fails. Immutable.
 */
public final class ExpectedGuarantees {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** Rows of clockless stores, where others have to observe that a process is silent. */
  private static final Pattern OBSERVED =
      Pattern.compile("(etcd|consul|nats|dynamodb|database)(/.*)?");

  private final String mode;

  /** The time beyond a TTL after the last renewal until the store frees a hold. */
  private final Duration lag;

  /** Whether a killed waiter is skipped; else its session has to end first. */
  private final boolean skipsDead;

  /** Whether a waiting process is served, however often others ask. */
  private final boolean servesAll;

  /** Whether a crowd waits longer than few waiters. */
  private final boolean delaysCrowds;

  private final Map<InjectedFault, Guarantee> cells;

  private ExpectedGuarantees(
      String mode,
      Duration lag,
      Set<Capability> capabilities,
      boolean delaysCrowds,
      Map<InjectedFault, Guarantee> cells) {
    this.mode = mode;
    this.lag = lag;
    this.delaysCrowds = delaysCrowds;
    // Without a queue there is no hand-off: waiters poll.
    this.skipsDead =
        capabilities.containsAll(EnumSet.of(Capability.QUEUE, Capability.SKIPS_DISCONNECTED));
    // A quorum has no queue, but a process yields its lock to others before acquiring it again.
    this.servesAll = capabilities.contains(Capability.QUEUE) || mode.startsWith("quorum");
    this.cells = cells;
  }

  /**
   * Asks the store for its row of the table.
   *
   * @param injectedFaults that will be injected
   * @throws IllegalStateException if the store does not tell, or if the table excludes one of the
   *     faults for this store
   */
  public static ExpectedGuarantees of(String url, Set<InjectedFault> injectedFaults)
      throws InterruptedException {
    try (LockStore store = LockStore.connect(StoreUrl.parse(url))) {
      String mode =
          store.examine().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS).mode();
      return of(GuaranteeTable.load(), mode, store.profile(), injectedFaults);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("The store does not tell how it is set up.", e);
    }
  }

  static ExpectedGuarantees of(
      GuaranteeTable table, String mode, StoreProfile profile, Set<InjectedFault> injectedFaults) {
    Map<InjectedFault, Guarantee> cells = new EnumMap<>(InjectedFault.class);
    Optional<StoreMode> row =
        table.modes().stream().filter(each -> each.id().equals(mode)).findFirst();
    for (InjectedFault injectedFault : injectedFaults) {
      row.flatMap(there -> strictest(table, there, injectedFault))
          .ifPresent(cell -> cells.put(injectedFault, cell));
    }
    // Without sessions each hold is separate in the store, with a significant lag.
    Duration lag = profile.can(Capability.SESSION) ? Duration.ZERO : profile.expiryLag();
    boolean delaysCrowds =
        row.isPresent() && table.cell(mode, "crowd").answer() == GuaranteeLevel.DELAYED;
    return new ExpectedGuarantees(
        row.isPresent() ? mode : "", lag, profile.capabilities(), delaysCrowds, cells);
  }

  /** The better cell, for a fault that belongs to two columns. */
  private static Optional<Guarantee> strictest(
      GuaranteeTable table, StoreMode row, InjectedFault injectedFault) {
    List<Guarantee> cells =
        injectedFault.cells().stream().map(column -> table.cell(row.id(), column)).toList();
    for (Guarantee cell : cells) {
      if (cell.answer() == GuaranteeLevel.NONE) {
        throw new IllegalStateException(
            "The guarantee table says that "
                + row.id()
                + " cannot have the fault "
                + cell.fault().id()
                + ", which '"
                + injectedFault.label()
                + "' is.");
      }
    }
    return cells.stream().min(Comparator.comparing(Guarantee::answer));
  }

  /** The row; empty if the table has none for this store: then every promise must be kept. */
  public String mode() {
    return mode;
  }

  /** The cell of a fault; empty if the table has none. */
  public Optional<Guarantee> cell(InjectedFault injectedFault) {
    return Optional.ofNullable(cells.get(injectedFault));
  }

  /** The longest time until the locks of a silent process are free, if wanted. */
  Duration expiry(Duration ttl) {
    return OBSERVED.matcher(mode).matches() ? ttl.multipliedBy(2) : ttl.plus(lag);
  }

  /** The additional delay of a hand-off in a crowd: within a TTL instead of a third. */
  Duration crowdDelay(Duration ttl) {
    return delaysCrowds ? ttl.multipliedBy(2).dividedBy(3) : Duration.ZERO;
  }

  /** Whether a waiting process is served, however often others ask. */
  boolean servesAll() {
    return servesAll;
  }

  /** The permitted effects of each fault, for a checker. */
  Map<String, FaultEffect> effects() {
    Map<String, FaultEffect> faultEffects = new TreeMap<>();
    for (InjectedFault injectedFault : InjectedFault.values()) {
      faultEffects.put(
          injectedFault.label(),
          new FaultEffect(
              delay(injectedFault), mayBreak(injectedFault), setsTokensBack(injectedFault)));
    }
    return faultEffects;
  }

  /**
   * SQLite does not end the transaction of a paused process, whose lock of the file blocks all
   * others until it resumes; its death ends the transaction.
   */
  private DelayBound delay(InjectedFault injectedFault) {
    boolean standsStill =
        injectedFault == InjectedFault.PAUSE || injectedFault == InjectedFault.FULL_GC;
    if (standsStill && mode.startsWith("sqlite")) {
      return DelayBound.STORE;
    }
    if (injectedFault.delay() == DelayBound.WAITER && !skipsDead) {
      return DelayBound.WAITER_BY_SESSION;
    }
    return injectedFault.delay();
  }

  /** Clockless stores count changes: after a loss of data numbers repeat. */
  private boolean setsTokensBack(InjectedFault injectedFault) {
    return OBSERVED.matcher(mode).matches()
        && mayBreak(injectedFault).contains(SafetyRule.RISING_TOKENS);
  }

  /**
   * A worker that checks its lease before each step is never misled by a fault of its own process;
   * the table also covers workers that do not check.
   */
  private Set<SafetyRule> mayBreak(InjectedFault injectedFault) {
    Guarantee cell = cells.get(injectedFault);
    if (cell == null || injectedFault.isOnClient()) {
      return Set.of();
    }
    return switch (cell.answer()) {
      case NONE, SAFE, DELAYED -> Set.of();
      case DETECTED -> EnumSet.of(SafetyRule.EXCLUSION);
      case UNNOTICED ->
          EnumSet.of(
              SafetyRule.EXCLUSION,
              SafetyRule.UNIQUE_TOKENS,
              SafetyRule.RISING_TOKENS,
              SafetyRule.NO_LOST_UPDATE,
              SafetyRule.NO_RIGHTFUL_REFUSAL);
    };
  }
}
