package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.quorum.QuorumSimulation.SimulationOutcome;
import io.mortise.testkit.Seed;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The running quorum store in random worlds of virtual time; and the same without one of its rules,
 * whose absence must be noticed. Rules of votes and tokens are in {@link VotesModel} and {@link
 * TokenMintModel}, too.
 *
 * <p>{@code -Dmortise.seed=…} repeats a world, {@code -Dmortise.quorum.worlds=…} sets their number.
 */
class QuorumSimulationTest {
  private static final int WORLDS = Integer.getInteger("mortise.quorum.worlds", 200);
  private static final int MUTANT_WORLDS =
      Integer.getInteger("mortise.quorum.mutant-worlds", 1_000);

  /**
   * The store without one of its rules.
   *
   * @param from the first seed to try: one such world, when this was written
   * @param breaks the promises one of which it must break
   */
  record Mutant(String name, long from, QuorumRules rules, Set<String> breaks) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Mutant> mutants() {
    return Stream.of(
        new Mutant(
            "half of the members are enough",
            0,
            new QuorumRules() {
              @Override
              int majority(int members) {
                return members / 2;
              }
            },
            Set.of(QuorumSimulation.EXCLUSION, QuorumSimulation.TOKENS)),
        new Mutant(
            "a lease lasts as long as the last of its votes",
            1,
            new QuorumRules() {
              @Override
              int requiredVotes(int majority) {
                return 1;
              }
            },
            Set.of(QuorumSimulation.EXCLUSION)),
        new Mutant(
            "a vote outlives its session",
            25,
            new QuorumRules() {
              @Override
              boolean votesEndWithTheirSession() {
                return false;
              }
            },
            Set.of(QuorumSimulation.EXCLUSION)),
        new Mutant(
            "a vote outlives its hold",
            38,
            new QuorumRules() {
              @Override
              boolean votesEndWithTheirHold() {
                return false;
              }
            },
            Set.of(QuorumSimulation.EXCLUSION)),
        new Mutant(
            "what one member judged counts in all",
            3,
            new QuorumRules() {
              @Override
              boolean judgesPerMember() {
                return false;
              }
            },
            Set.of(QuorumSimulation.EXCLUSION)),
        new Mutant(
            "what was not answered is not given back",
            14,
            new QuorumRules() {
              @Override
              boolean releasesEverywhere() {
                return false;
              }
            },
            Set.of(QuorumSimulation.LEFTOVER)),
        new Mutant(
            "what may be late is ended once",
            71,
            new QuorumRules() {
              @Override
              boolean releasesLateRequestsTwice() {
                return false;
              }
            },
            Set.of(QuorumSimulation.LEFTOVER)),
        new Mutant(
            "an end that was not heard is not told again",
            9,
            new QuorumRules() {
              @Override
              boolean retriesReleases() {
                return false;
              }
            },
            Set.of(QuorumSimulation.LEFTOVER)),
        new Mutant(
            "an attempt that was given up keeps its number",
            181,
            new QuorumRules() {
              @Override
              int numberOfNextTry(int number) {
                return number;
              }
            },
            Set.of(QuorumSimulation.EXCLUSION)),
        new Mutant(
            "a request is answered again",
            0,
            new QuorumRules() {
              @Override
              boolean answersOnce() {
                return false;
              }
            },
            Set.of(QuorumSimulation.ANSWERS)),
        new Mutant(
            "who has forgotten votes at once",
            19,
            new QuorumRules() {
              @Override
              boolean quarantines() {
                return false;
              }
            },
            Set.of(QuorumSimulation.EXCLUSION)),
        new Mutant(
            "a grant counts that came after a break",
            616,
            new QuorumRules() {
              @Override
              boolean doubtsAfterBreaks() {
                return false;
              }
            },
            Set.of(QuorumSimulation.EXCLUSION)),
        new Mutant(
            "the highest of a majority's tokens",
            122,
            new QuorumRules() {
              @Override
              TokenBlock tokens(List<TokenBlock> minted, int majority) {
                return minted.stream()
                    .max(Comparator.comparingLong(TokenBlock::first))
                    .orElseThrow();
              }
            },
            Set.of(QuorumSimulation.TOKENS)),
        new Mutant(
            "a minority's token",
            45,
            new QuorumRules() {
              @Override
              @Nullable TokenBlock tokens(List<TokenBlock> minted, int majority) {
                return TokenBlock.common(minted, majority - 1);
              }
            },
            Set.of(QuorumSimulation.TOKENS)),
        new Mutant(
            "the second phase begins where the first did",
            14,
            new QuorumRules() {
              @Override
              long floorAboveMinted(long last, long lead) {
                return 0;
              }
            },
            Set.of(QuorumSimulation.SHUT)));
  }

  @Test
  void givenMembersThatForget_clientsThatDie_andMessagesThatAreLost_thenEveryPromiseIsKept() {
    long from = Seed.draw().value();
    int worlds = Seed.isGiven() ? 1 : WORLDS;
    int grants = 0;
    for (long seed = from; seed < from + worlds; seed++) {
      SimulationOutcome simulationOutcome = QuorumSimulation.run(seed, QuorumRules.ALL);
      assertThat(simulationOutcome.broken())
          .as("-Dmortise.seed=%d%n%s%n", seed, simulationOutcome.trace())
          .isNull();
      grants += simulationOutcome.grants();
    }
    System.out.println(worlds + " worlds of a quorum: " + grants + " grants");
    assertThat(grants).isGreaterThan(worlds);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("mutants")
  void givenOneRuleLess_thenAPromiseIsBroken(Mutant mutant) {
    long world =
        LongStream.range(mutant.from(), mutant.from() + MUTANT_WORLDS)
            .filter(
                seed -> {
                  String broken = QuorumSimulation.run(seed, mutant.rules()).broken();
                  return broken != null && mutant.breaks().contains(broken);
                })
            .findFirst()
            .orElse(-1);
    System.out.println("Quorum mutant '" + mutant + "' is caught in world " + world);
    assertThat(world).isNotNegative();
  }
}
