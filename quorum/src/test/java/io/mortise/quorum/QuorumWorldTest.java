package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.quorum.QuorumWorld.Outcome;
import io.mortise.testkit.Seed;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The running quorum store in random worlds of virtual time; and the same without one of its rules,
 * which must be missed. Not every rule can be: behind some another one stands, which alone keeps
 * the promise in these worlds. {@link VotesModel} and {@link MintModel} break without those.
 *
 * <p>{@code -Dmortise.seed=…} repeats a world, {@code -Dmortise.quorum.worlds=…} sets how many
 * there are.
 */
class QuorumWorldTest {
  private static final int WORLDS = Integer.getInteger("mortise.quorum.worlds", 200);
  private static final int MUTANT_WORLDS = 1_000;

  /** The store without one of its rules, and the promises one of which that must break. */
  record Mutant(String name, QuorumRules rules, Set<String> breaks) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Mutant> mutants() {
    return Stream.of(
        new Mutant(
            "half of the members are enough",
            new QuorumRules() {
              @Override
              int majority(int members) {
                return members / 2;
              }
            },
            Set.of(QuorumWorld.EXCLUSION, QuorumWorld.TOKENS)),
        new Mutant(
            "what was not answered is not given back",
            new QuorumRules() {
              @Override
              boolean releasesEverywhere() {
                return false;
              }
            },
            Set.of(QuorumWorld.LEFTOVER)),
        new Mutant(
            "who has forgotten votes at once",
            new QuorumRules() {
              @Override
              boolean quarantines() {
                return false;
              }
            },
            Set.of(QuorumWorld.EXCLUSION)));
  }

  @Test
  void givenMembersThatForget_clientsThatDie_andMessagesThatAreLost_thenEveryPromiseIsKept() {
    long from = Seed.draw().value();
    int worlds = Seed.isGiven() ? 1 : WORLDS;
    int grants = 0;
    for (long seed = from; seed < from + worlds; seed++) {
      Outcome outcome = QuorumWorld.run(seed, QuorumRules.ALL);
      assertThat(outcome.broken()).as("-Dmortise.seed=%d%n%s%n", seed, outcome.trace()).isNull();
      grants += outcome.grants();
    }
    System.out.println(worlds + " worlds of a quorum: " + grants + " grants");
    assertThat(grants).isGreaterThan(worlds);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("mutants")
  void givenOneRuleLess_thenAPromiseIsBroken(Mutant mutant) {
    long world =
        LongStream.range(0, MUTANT_WORLDS)
            .filter(
                seed -> {
                  String broken = QuorumWorld.run(seed, mutant.rules()).broken();
                  return broken != null && mutant.breaks().contains(broken);
                })
            .findFirst()
            .orElse(-1);
    System.out.println("Quorum mutant '" + mutant + "' is caught in world " + world);
    assertThat(world).isNotNegative();
  }
}
