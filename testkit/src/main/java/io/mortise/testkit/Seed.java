package io.mortise.testkit;

import java.security.SecureRandom;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * The seed of a random test: drawn anew for each run, or given by {@code -Dmortise.seed=…} to
 * repeat one. The same seed gives the same numbers on every JVM.
 *
 * @param value the seed
 */
public record Seed(long value) {
  /** The system property that repeats a run. */
  public static final String PROPERTY = "mortise.seed";

  /** The given seed, or a fresh one. */
  public static Seed draw() {
    Long given = Long.getLong(PROPERTY);
    return new Seed(given != null ? given : new SecureRandom().nextInt(Integer.MAX_VALUE));
  }

  /** Whether this run repeats another. */
  public static boolean isGiven() {
    return Long.getLong(PROPERTY) != null;
  }

  /** A generator that begins with this seed. */
  public RandomGenerator random() {
    return RandomGeneratorFactory.of("L64X128MixRandom").create(value);
  }

  /** How to repeat the run. */
  @Override
  public String toString() {
    return "-D" + PROPERTY + "=" + value;
  }
}
