package io.mortise.torture.run;

import io.mortise.guarantee.Answer;
import io.mortise.guarantee.Guarantee;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.guarantee.StoreMode;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.torture.history.Effect;
import io.mortise.torture.history.Effect.Delay;
import io.mortise.torture.history.Finding.Rule;
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

/**
 * What the guarantee table says of the store under torture, as it is set up: a run that sees more
 * go wrong fails. Immutable.
 */
public final class Promises {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final String mode;

  /** Whether a waiter that was killed is passed over; else its session has to end. */
  private final boolean skipsDead;

  private final Map<Fault, Guarantee> cells;

  private Promises(String mode, Set<Capability> capabilities, Map<Fault, Guarantee> cells) {
    this.mode = mode;
    // Without a queue nobody hands over: those that wait ask again, now and then.
    this.skipsDead =
        capabilities.containsAll(EnumSet.of(Capability.QUEUE, Capability.SKIPS_DISCONNECTED));
    this.cells = cells;
  }

  /**
   * Asks the store which row of the table it is.
   *
   * @param faults that will happen
   * @throws IllegalStateException if the store does not tell, or if a fault will happen of which
   *     the table says that this store cannot have it
   */
  public static Promises of(String url, Set<Fault> faults) throws InterruptedException {
    try (LockStore store = LockStore.connect(StoreUrl.parse(url))) {
      Set<Capability> capabilities = store.profile().capabilities();
      String mode =
          store.examine().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS).mode();
      return of(GuaranteeTable.load(), mode, capabilities, faults);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("The store does not tell how it is set up.", e);
    }
  }

  static Promises of(
      GuaranteeTable table, String mode, Set<Capability> capabilities, Set<Fault> faults) {
    Map<Fault, Guarantee> cells = new EnumMap<>(Fault.class);
    Optional<StoreMode> row =
        table.modes().stream().filter(each -> each.id().equals(mode)).findFirst();
    for (Fault fault : faults) {
      row.flatMap(there -> strictest(table, there, fault))
          .ifPresent(cell -> cells.put(fault, cell));
    }
    return new Promises(row.isPresent() ? mode : "", capabilities, cells);
  }

  /** A fault that is a case of two columns has to keep to the better one. */
  private static Optional<Guarantee> strictest(GuaranteeTable table, StoreMode row, Fault fault) {
    List<Guarantee> cells =
        fault.cells().stream().map(column -> table.cell(row.id(), column)).toList();
    for (Guarantee cell : cells) {
      if (cell.answer() == Answer.NONE) {
        throw new IllegalStateException(
            "The guarantee table says that "
                + row.id()
                + " cannot have the fault "
                + cell.fault().id()
                + ", which '"
                + fault.label()
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
  public Optional<Guarantee> cell(Fault fault) {
    return Optional.ofNullable(cells.get(fault));
  }

  /** For a checker: what each fault may do. */
  Map<String, Effect> effects() {
    Map<String, Effect> effects = new TreeMap<>();
    for (Fault fault : Fault.values()) {
      effects.put(fault.label(), new Effect(delay(fault), mayBreak(fault)));
    }
    return effects;
  }

  /**
   * Nobody ends a transaction of SQLite or H2 whose process stands still, and until it goes on
   * nobody else gets at what it has locked; one that dies ends it. H2 is asked one statement at a
   * time, so that one on a slow network keeps what it has locked for many trips.
   */
  private Delay delay(Fault fault) {
    boolean isH2 = mode.startsWith("h2");
    boolean standsStill = fault == Fault.PAUSE || fault == Fault.FULL_GC;
    if (standsStill && (isH2 || mode.startsWith("sqlite"))) {
      return Delay.STORE;
    }
    if (fault.delay() == Delay.WAITER && !skipsDead) {
      return Delay.WAITER_BY_SESSION;
    }
    return isH2 && fault == Fault.SLOW ? Delay.LOST_WORD : fault.delay();
  }

  /**
   * Who asks a lease before each step is never fooled by a fault of its own process, whatever the
   * table says of those who do not ask.
   */
  private Set<Rule> mayBreak(Fault fault) {
    Guarantee cell = cells.get(fault);
    if (cell == null || fault.isOnClient()) {
      return Set.of();
    }
    return switch (cell.answer()) {
      case NONE, SAFE, DELAYED -> Set.of();
      case DETECTED -> EnumSet.of(Rule.EXCLUSION);
      case UNNOTICED ->
          EnumSet.of(
              Rule.EXCLUSION,
              Rule.UNIQUE_TOKENS,
              Rule.RISING_TOKENS,
              Rule.NO_LOST_UPDATE,
              Rule.NO_RIGHTFUL_REFUSAL);
    };
  }
}
