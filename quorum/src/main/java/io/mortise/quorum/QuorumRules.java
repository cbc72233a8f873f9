package io.mortise.quorum;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules that make a quorum safe, one method each, so that tests can take them away one at a
 * time and prove that it would be noticed. Production code knows only {@link #ALL}.
 */
class QuorumRules {
  /** Every rule in force. */
  static final QuorumRules ALL = new QuorumRules();

  /** So many that two of them always share a member. */
  int majority(int members) {
    return members / 2 + 1;
  }

  /** Whether a vote ends for good with the session, in that member, that it was given to (A4). */
  boolean votesEndWithTheirSession() {
    return true;
  }

  /**
   * Whether an attempt that failed is ended in all members that were asked, also where no answer
   * came: it may have been granted there.
   */
  boolean releasesEverywhere() {
    return true;
  }

  /** Whether a member that may have forgotten has no vote until all it forgot has ended. */
  boolean quarantines() {
    return true;
  }

  /**
   * Whether a grant does not count that came between a broken connection and the next renewal that
   * was answered: the server may have been restarted meanwhile.
   */
  boolean doubtsAfterBreaks() {
    return true;
  }

  /**
   * Whether a member has no vote before it has answered a renewal of its present session, which
   * tells what it remembers with.
   */
  boolean waitsUntilTold() {
    return true;
  }

  /**
   * Whether a grant that is known is still the answer to its attempt: as long as enough members
   * stand by it, however many of those that were asked again agree on its tokens.
   */
  boolean stands(VoteSet votes, int agreeing, int majority) {
    return !votes.isOver();
  }

  /**
   * Which tokens a grant has: those that a majority minted for it. Every member mints each number
   * once and in rising order, and any two majorities share a member, so no two grants share a token
   * and a later grant has greater ones, whatever became of the holds meanwhile.
   */
  @Nullable TokenBlock tokens(List<TokenBlock> minted, int majority) {
    return TokenBlock.common(minted, majority);
  }

  /** Whether a late vote counts only for a hold that never was without a majority. */
  boolean repairsOnlyWhatIsValid() {
    return true;
  }
}
