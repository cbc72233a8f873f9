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
 * What the guarantee table says of the store under torture, as it is set up: a run that sees more
 * go wrong fails. Immutable.
 */
public final class ExpectedGuarantees {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** Rows of clockless stores, where others have to see that a process is not heard of. */
  private static final Pattern OBSERVED =
      Pattern.compile("(etcd|consul|nats|dynamodb|database)(/.*)?");

  private final String mode;

  /** How much later than a TTL after its last renewal the store frees a hold. */
  private final Duration lag;

  /** Whether a waiter that was killed is passed over; else its session has to end. */
  private final boolean skipsDead;

  /** Whether a process that waits is served, however often others ask. */
  private final boolean servesAll;

  /** Whether a crowd waits longer than few do. */
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
    // Without a queue nobody hands over: those that wait ask again, now and then.
    this.skipsDead =
        capabilities.containsAll(EnumSet.of(Capability.QUEUE, Capability.SKIPS_DISCONNECTED));
    // A quorum has no queue, but a process leaves its lock to others before it takes it again.
    this.servesAll = capabilities.contains(Capability.QUEUE) || mode.startsWith("quorum");
    this.cells = cells;
  }

  /**
   * Asks the store which row of the table it is.
   *
   * @param injectedFaults that will happen
   * @throws IllegalStateException if the store does not tell, or if a fault will happen of which
   *     the table says that this store cannot have it
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
    // Without sessions each hold is a thing of its own in the store, with a lag that matters.
    Duration lag = profile.can(Capability.SESSION) ? Duration.ZERO : profile.expiryLag();
    boolean delaysCrowds =
        row.isPresent() && table.cell(mode, "crowd").answer() == GuaranteeLevel.DELAYED;
    return new ExpectedGuarantees(
        row.isPresent() ? mode : "", lag, profile.capabilities(), delaysCrowds, cells);
  }

  /** A fault that is a case of two columns has to keep to the better one. */
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

  /** The row; empty if the table has none for this store: then no promise may ever be broken. */
  public String mode() {
    return mode;
  }

  /** The cell that a fault has to behave as; empty if the table has none. */
  public Optional<Guarantee> cell(InjectedFault injectedFault) {
    return Optional.ofNullable(cells.get(injectedFault));
  }

  /**
   * After how long without a word of a process its locks are free at the latest, if somebody wants
   * them.
   */
  Duration expiry(Duration ttl) {
    return OBSERVED.matcher(mode).matches() ? ttl.multipliedBy(2) : ttl.plus(lag);
  }

  /** How much later than few waiters the next of a crowd has a lock: within a TTL, not a third. */
  Duration crowdDelay(Duration ttl) {
    return delaysCrowds ? ttl.multipliedBy(2).dividedBy(3) : Duration.ZERO;
  }

  /** Whether a process that waits is served, however often others ask. */
  boolean servesAll() {
    return servesAll;
  }

  /** For a checker: what each fault may do. */
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
   * Nobody ends a transaction of SQLite or H2 whose process stands still, and until it goes on
   * nobody else gets at what it has locked; one that dies ends it. H2 is asked one statement at a
   * time, so that one on a slow network keeps what it has locked for many trips.
   */
  private DelayBound delay(InjectedFault injectedFault) {
    boolean isH2 = mode.startsWith("h2");
    boolean standsStill =
        injectedFault == InjectedFault.PAUSE || injectedFault == InjectedFault.FULL_GC;
    if (standsStill && (isH2 || mode.startsWith("sqlite"))) {
      return DelayBound.STORE;
    }
    if (injectedFault.delay() == DelayBound.WAITER && !skipsDead) {
      return DelayBound.WAITER_BY_SESSION;
    }
    return isH2 && injectedFault == InjectedFault.SLOW
        ? DelayBound.LOST_WORD
        : injectedFault.delay();
  }

  /** Clockless stores count changes: what is forgotten is counted again. */
  private boolean setsTokensBack(InjectedFault injectedFault) {
    return OBSERVED.matcher(mode).matches()
        && mayBreak(injectedFault).contains(SafetyRule.RISING_TOKENS);
  }

  /**
   * Who asks a lease before each step is never fooled by a fault of its own process, whatever the
   * table says of those who do not ask.
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
