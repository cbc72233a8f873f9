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

  /** How many votes a lease hangs on: the time counts that so many of them have. */
  int requiredVotes(int majority) {
    return majority;
  }

  /** From when a vote lasts a TTL that was renewed. */
  long countsFrom(long sentAt, long answeredAt) {
    return sentAt;
  }

  /** Whether a vote ends when its member tells that the hold has ended there. */
  boolean votesEndWithTheirHold() {
    return true;
  }

  /** Whether a session that one member judged dead counts as dead in that member only. */
  boolean judgesPerMember() {
    return true;
  }

  /**
   * Whether a vote ends for good with the session, in that member, that it was given to
   * (invariants.md#votes-end-with-session).
   */
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

  /** Whether a request that may yet arrive late is ended once more when it cannot any more. */
  boolean releasesLateRequestsTwice() {
    return true;
  }

  /** Whether an end that a member did not hear of is told to it again. */
  boolean retriesReleases() {
    return true;
  }

  /** Whether an attempt that was given up goes on under another number in the members. */
  int numberOfNextTry(int number) {
    return number + 1;
  }

  /** Whether a request is answered once. */
  boolean answersOnce() {
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
  boolean waitsForIncarnation() {
    return true;
  }

  /**
   * Which tokens a grant has: those that a majority minted for it. Every member mints each number
   * once and in rising order, and any two majorities share a member, so no two grants share a token
   * and a later grant has greater ones, whatever became of the holds meanwhile.
   */
  @Nullable TokenBlock tokens(List<TokenBlock> minted, int majority) {
    return TokenBlock.common(minted, majority);
  }

  /** From where on tokens are minted when a majority had none in common. */
  long floorAboveMinted(long last, long lead) {
    return last + lead;
  }

  /** Whether a late vote counts only for a hold that never was without a majority. */
  boolean repairsOnlyValidHolds() {
    return true;
  }
}
