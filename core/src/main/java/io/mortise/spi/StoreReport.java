package io.mortise.spi;

import io.mortise.StoreUnavailableException;
import io.mortise.annotation.Beta;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A report on a server's own settings, see {@link LockStore#examine()}.
 *
 * @param mode the row of the {@link io.mortise.guarantee.GuaranteeTable} that applies to this
 *     installation; if something could not be found out, the worst possible row. Empty if the store
 *     has none
 * @param findings one for each setting that matters
 */
@Beta
public record StoreReport(String mode, List<Finding> findings) {
  /** The time limit for the report of one store. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** Copies the list. */
  public StoreReport {
    findings = List.copyOf(findings);
  }

  /**
   * Asks a store for its report, and waits for it. Blocks for ten seconds at most.
   *
   * @throws StoreUnavailableException if the store does not answer in that time, or if the thread
   *     is interrupted; the thread stays interrupted
   */
  public static StoreReport of(LockStore store) {
    try {
      return store.examine().toCompletableFuture().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(
          "The settings of store '%s' could not be read.".formatted(store.profile().display()), e);
    } catch (TimeoutException e) {
      throw new StoreUnavailableException(
          "Store '%s' did not tell its settings within %s. Check that it runs and that this host reaches it, then look again."
              .formatted(store.profile().display(), DurationText.formatExact(PATIENCE)),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException(
          "The look at the settings of store '%s' was interrupted. Look again."
              .formatted(store.profile().display()),
          e);
    }
  }

  /** Begins a report. */
  public static Builder about(String mode) {
    return new Builder(mode);
  }

  /** How good a setting is for locks. */
  public enum Grade {
    /** As good as possible. */
    FINE,
    /** Not the best possible, for a price, or worth knowing. */
    NOTE,
    /** Removes a guarantee that the store could give. */
    WEAK,
    /** Could not be found out; the worst was assumed. */
    UNKNOWN
  }

  /**
   * One setting.
   *
   * @param id the server's name for it, if it has one
   * @param value its present value; no secret
   * @param meaning the consequence for locks
   * @param remedy the change that gives more; empty if there is none
   * @param faults ids of the guarantee table's columns that depend on it
   */
  public record Finding(
      Grade grade, String id, String value, String meaning, String remedy, Set<String> faults) {
    /** Copies the set. */
    public Finding {
      faults = Set.copyOf(faults);
    }
  }

  /** Collects findings. Not thread-safe. */
  public static final class Builder {
    private final List<Finding> findings = new ArrayList<>();
    private String mode;

    private Builder(String mode) {
      this.mode = mode;
    }

    /** Sets another row of the guarantee table. */
    public Builder mode(String other) {
      mode = other;
      return this;
    }

    /** A setting that is as good as possible. */
    public Builder fine(String id, String value, String meaning) {
      return add(Grade.FINE, id, value, meaning, "");
    }

    /** A setting that is worth knowing. */
    public Builder note(String id, String value, String meaning, String remedy, String... faults) {
      return add(Grade.NOTE, id, value, meaning, remedy, faults);
    }

    /** A setting that removes a guarantee. */
    public Builder weak(String id, String value, String meaning, String remedy, String... faults) {
      return add(Grade.WEAK, id, value, meaning, remedy, faults);
    }

    /** A setting that could not be read. */
    public Builder unknown(String id, String why, String remedy, String... faults) {
      return add(Grade.UNKNOWN, id, "", why, remedy, faults);
    }

    /** Adds a finding made elsewhere. */
    public Builder add(Finding finding) {
      findings.add(finding);
      return this;
    }

    private Builder add(
        Grade grade, String id, String value, String meaning, String remedy, String... faults) {
      return add(new Finding(grade, id, value, meaning, remedy, Set.of(faults)));
    }

    /** The report. */
    public StoreReport build() {
      return new StoreReport(mode, findings);
    }
  }
}
