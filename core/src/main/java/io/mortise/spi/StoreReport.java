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
 * What a look at a server's own settings told, see {@link LockStore#examine()}.
 *
 * @param mode the row of the {@link io.mortise.guarantee.GuaranteeTable} that applies to this
 *     installation; where something could not be found out, the worst that it may be. Empty if the
 *     store has none
 * @param findings one for each setting that matters
 */
@Beta
public record StoreReport(String mode, List<Finding> findings) {
  /** For the answer to one look. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** Copies the list. */
  public StoreReport {
    findings = List.copyOf(findings);
  }

  /**
   * Asks a store for its report, and waits for it. Blocks for ten seconds at most.
   *
   * @throws StoreUnavailableException if the store does not answer in that time, or if the thread
   *     is interrupted, which stays its state
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
    /** As good as it can be. */
    FINE,
    /** Not the best that there is, for a price, or worth knowing. */
    NOTE,
    /** Takes away a guarantee that the store can give otherwise. */
    WEAK,
    /** Could not be found out; the worst was assumed. */
    UNKNOWN
  }

  /**
   * One setting.
   *
   * @param id as the server calls it, if it does
   * @param value what it is now; no secret
   * @param meaning what that means for locks
   * @param remedy what to change for more; empty if nothing
   * @param faults ids of the columns of the guarantee table that it decides
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

    /** Another row applies. */
    public Builder mode(String other) {
      mode = other;
      return this;
    }

    /** A setting that is as good as it can be. */
    public Builder fine(String id, String value, String meaning) {
      return add(Grade.FINE, id, value, meaning, "");
    }

    /** A setting that is worth knowing. */
    public Builder note(String id, String value, String meaning, String remedy, String... faults) {
      return add(Grade.NOTE, id, value, meaning, remedy, faults);
    }

    /** A setting that takes away a guarantee. */
    public Builder weak(String id, String value, String meaning, String remedy, String... faults) {
      return add(Grade.WEAK, id, value, meaning, remedy, faults);
    }

    /** A setting that could not be read. */
    public Builder unknown(String id, String why, String remedy, String... faults) {
      return add(Grade.UNKNOWN, id, "", why, remedy, faults);
    }

    /** A finding of somebody else's. */
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
