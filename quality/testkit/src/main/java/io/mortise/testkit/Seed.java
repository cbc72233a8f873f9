package io.mortise.testkit;

import java.security.SecureRandom;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * The seed of a random test. The first is 1, the next 2, and so on, the same in each build: what
 * one build has passed another does not fail by chance. {@code -Dmortise.seed=random} draws others,
 * to look for what nobody has met yet; {@code -Dmortise.seed=…} repeats one. The same seed gives
 * the same numbers on every JVM.
 *
 * @param value the seed
 */
public record Seed(long value) {
  private static final String RANDOM = "random";

  /** The system property that repeats a run. */
  public static final String PROPERTY = "mortise.seed";

  /** The given seed, or the first of all. */
  public static Seed draw() {
    return draw(1);
  }

  /**
   * The given seed, or that of a run among several.
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

  /** How to repeat the run. */
  @Override
  public String toString() {
    return "-D" + PROPERTY + "=" + value;
  }
}
