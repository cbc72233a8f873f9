package io.mortise.testkit;

import java.security.SecureRandom;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * The seed of a random test. Seeds count from 1, the same in each build, so that no build fails by
 * chance. {@code -Dmortise.seed=random} draws others, to find new failures; {@code
 * -Dmortise.seed=…} repeats one. The same seed gives the same numbers on every JVM.
 *
 * @param value the seed
 */
public record Seed(long value) {
  private static final String RANDOM = "random";

  /** The system property that repeats a run. */
  public static final String PROPERTY = "mortise.seed";

  /** Returns the given seed, or the first one. */
  public static Seed draw() {
    return draw(1);
  }

  /**
   * Returns the given seed, or the one of a run among several.
   *
   * @param run counts from 1
   */
  public static Seed draw(int run) {
    Long given = Long.getLong(PROPERTY);
    if (given != null) {
      return new Seed(given);
    }
    boolean random = RANDOM.equals(System.getProperty(PROPERTY));
    return new Seed(random ? new SecureRandom().nextInt(Integer.MAX_VALUE) : run);
  }

  /** Whether this run repeats another. */
  public static boolean isGiven() {
    return Long.getLong(PROPERTY) != null;
  }

  /** A generator that begins with this seed. */
  public RandomGenerator random() {
    return RandomGeneratorFactory.of("L64X128MixRandom").create(value);
  }

  /** The option that repeats the run. */
  @Override
  public String toString() {
    return "-D" + PROPERTY + "=" + value;
  }
}
