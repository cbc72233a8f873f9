package io.mortise.quorum;

import static io.mortise.verification.model.ModelAssert.assertBroken;
import static io.mortise.verification.model.ModelAssert.assertSafe;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The algorithm, every run of it for a few clients and members; and variants without a rule, which
 * must be found broken.
 */
class QuorumModelTest {
  private static BallotModel ballots(
      BallotModel.BallotVariant variant, int crashes, int... proposals) {
    return new BallotModel(variant, 2, crashes, proposals);
  }

  @Test
  void givenBallotsWithoutOneOfTheirRules_thenTwoHoldsShareATokenOrGoBack() {
    assertBroken(
        "ballots, counter plus one", ballots(BallotModel.BallotVariant.NO_WRITE_BACK, 0, 1));
    assertBroken("ballots, not strict", ballots(BallotModel.BallotVariant.NOT_STRICT, 0, 1));
    assertBroken("ballots, back at once", ballots(BallotModel.BallotVariant.NAIVE_RESTART, 1, 1));
    assertBroken("ballots, peers read", ballots(BallotModel.BallotVariant.READ_PEERS, 1, 1));
  }

  @Test
  void givenBallotsWithStrictComparison_thenTokensAreUniqueAndRise() {
    assertSafe("ballots, no restart", ballots(BallotModel.BallotVariant.EPOCHS, 0, 1));
    assertSafe(
        "ballots, no restart, whoever owns",
        ballots(BallotModel.BallotVariant.EPOCHS_WITHOUT_OWNER, 0, 1));
  }

  @Test
  void givenTokensThatAMajorityMinted_thenTheyAreUniqueAndRise_alsoWhenAMemberForgets() {
    assertSafe(
        "minted", new TokenMintModel(TokenMintModel.MintVariant.BUILT, QuorumRules.ALL, 0, 0));
    assertBroken(
        "minted, back at once",
        new TokenMintModel(TokenMintModel.MintVariant.NAIVE_RESTART, QuorumRules.ALL, 1, 0));
    assertBroken(
        "minted, forgetful counts",
        new TokenMintModel(TokenMintModel.MintVariant.FORGETFUL_COUNTS, QuorumRules.ALL, 1, 0));
    assertBroken(
        "minted, highest of the answers",
        new TokenMintModel(TokenMintModel.MintVariant.BUILT, new HighestAnswer(), 0, 0));
  }

  /** One phase: the highest of a majority's answers. */
  static final class HighestAnswer extends QuorumRules {
    @Override
    @Nullable TokenBlock tokens(List<TokenBlock> minted, int majority) {
      return minted.size() < majority
          ? null
          : minted.stream().max((a, b) -> Long.compare(a.last(), b.last())).orElseThrow();
    }
  }

  @Test
  void givenVotesThatHangOnTheirSessions_thenOneBelievesAtATime() {
    assertSafe("votes", new VotesModel(VotesModel.VotesVariant.BUILT, 1));
    assertBroken("votes, of any majority", new VotesModel(VotesModel.VotesVariant.ANY_MAJORITY, 1));
    assertBroken("votes, no quarantine", new VotesModel(VotesModel.VotesVariant.NO_QUARANTINE, 1));
    assertBroken(
        "votes, lost holds repaired",
        new VotesModel(VotesModel.VotesVariant.REPAIRS_WHAT_IS_LOST, 1));
    assertBroken(
        "votes, all are empty",
        new VotesModel(VotesModel.VotesVariant.NO_QUARANTINE_IF_ALL_ARE_EMPTY, 3));
  }

  @Test
  @Timeout(1800)
  @EnabledIfSystemProperty(named = "mortise.model.long", matches = "true")
  void givenRestartsAndMoreClients_thenTheLongFormFindsNothing() {
    assertSafe("ballots, one restart", ballots(BallotModel.BallotVariant.EPOCHS, 1, 1));
    assertSafe(
        "minted, one restart",
        new TokenMintModel(TokenMintModel.MintVariant.BUILT, QuorumRules.ALL, 1, 0));
    assertSafe(
        "minted, lost answers",
        new TokenMintModel(TokenMintModel.MintVariant.BUILT, QuorumRules.ALL, 0, 1));
    assertSafe("votes, two restarts", new VotesModel(VotesModel.VotesVariant.BUILT, 2));
  }
}
