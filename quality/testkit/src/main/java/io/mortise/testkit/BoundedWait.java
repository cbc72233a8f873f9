package io.mortise.testkit;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * Bounded waiting for tests. Every bound is multiplied by {@link #FACTOR}, 1 by default, so that
 * slow machines need no changed test. {@code -Dmortise.wait.micros=…} sets the polling interval,
 * 5000 by default. Lower values suit hunts of mutants on a store without delays.
 */
public final class BoundedWait {
  /** How long an answer may take before a test counts it as missing. */
  public static final Duration ANSWER = Duration.ofSeconds(30);

  /** The system property that multiplies every bound. */
  public static final String FACTOR = "mortise.wait.factor";

  private static final Duration BETWEEN =
      Duration.ofNanos(1000L * Integer.getInteger("mortise.wait.micros", 5000));

  private BoundedWait() {}

  /** The bound, scaled for this machine. */
  public static Duration scaled(Duration bound) {
    double factor = Double.parseDouble(System.getProperty(FACTOR, "1"));
    return Duration.ofNanos((long) (bound.toNanos() * factor));
  }

  /**
   * Waits for a stage. Blocks.
   *
   * @throws AssertionError if it does not complete within {@link #ANSWER}, or completes
   *     exceptionally
   */
  public static <T> T join(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(scaled(ANSWER).toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("No answer within " + scaled(ANSWER) + ".", e);
    } catch (ExecutionException e) {
      throw new AssertionError("The answer is a failure: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("Interrupted while waiting for an answer.", e);
    }
  }

  /**
   * Waits until the condition holds, looking every few milliseconds. Blocks.
   *
   * @param what completes the sentence "it did not happen that …"
   * @throws AssertionError if it does not within the bound
   */
  public static void until(Duration bound, String what, BooleanSupplier condition) {
    long end = System.nanoTime() + scaled(bound).toNanos();
    // Both this process and the awaited one may have been paused for the whole bound.
    int looks = 20;
    for (int looked = 0; !condition.getAsBoolean(); looked++) {
      if (System.nanoTime() - end > 0 && looked >= looks) {
        throw new AssertionError(
            "Within " + scaled(bound) + " it did not happen that " + what + ".");
      }
      pass(BETWEEN);
    }
  }

  /**
   * Lets real time pass, for stores that act by their own clock. Blocks.
   *
   * @throws AssertionError if this thread is interrupted
   */
  public static void pass(Duration time) {
    try {
      TimeUnit.NANOSECONDS.sleep(time.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("Interrupted while time was to pass.", e);
    }
  }
}
