package io.mortise.quorum;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules that make a quorum safe, one method each, so that tests can remove them one at a time
 * and prove that the loss is noticed. Production code knows only {@link #ALL}.
 */
class QuorumRules {
  /** Every rule in force. */
  static final QuorumRules ALL = new QuorumRules();

  /** A number of members of which any two sets share a member. */
  int majority(int members) {
    return members / 2 + 1;
  }

  /** How many votes a lease needs: it lasts as long as that many of them. */
  int requiredVotes(int majority) {
    return majority;
  }

  /** The start of the TTL of a renewed vote. */
  long countsFrom(long sentAt, long answeredAt) {
    return sentAt;
  }

  /** Whether a vote ends when its member reports the end of the hold there. */
  boolean votesEndWithTheirHold() {
    return true;
  }

  /** Whether a verdict of one member on a session counts in that member only. */
  boolean judgesPerMember() {
    return true;
  }

  /**
   * Whether a vote ends for good with its session in that member
   * (invariants.md#votes-end-with-session).
   */
  boolean votesEndWithTheirSession() {
    return true;
  }

  /**
   * Whether a failed attempt is ended in all asked members, also those without an answer: it may
   * have been granted there.
   */
  boolean releasesEverywhere() {
    return true;
  }

  /** Whether a request that may still arrive late is ended again when it no longer can. */
  boolean releasesLateRequestsTwice() {
    return true;
  }

  /** Whether an end that did not reach a member is sent again. */
  boolean retriesReleases() {
    return true;
  }

  /** Whether a retried attempt gets another number in the members. */
  int numberOfNextTry(int number) {
    return number + 1;
  }

  /** Whether a request is answered once. */
  boolean answersOnce() {
    return true;
  }

  /** Whether a member that may have forgotten has no vote until all forgotten holds have ended. */
  boolean quarantines() {
    return true;
  }

  /**
   * Whether a grant between a broken connection and the next answered renewal does not count: the
   * server may have been restarted meanwhile.
   */
  boolean doubtsAfterBreaks() {
    return true;
  }

  /**
   * Whether a member has no vote before it has answered a renewal of its present session, which
   * returns its incarnation.
   */
  boolean waitsForIncarnation() {
    return true;
  }

  /**
   * The tokens of a grant: those that a majority minted for it. Every member mints each number once
   * and in rising order, and any two majorities share a member. So no two grants share a token and
   * a later grant has greater ones, whatever happened to the holds meanwhile.
   */
  @Nullable TokenBlock tokens(List<TokenBlock> minted, int majority) {
    return TokenBlock.common(minted, majority);
  }

  /** The first token to mint when a majority had none in common. */
  long floorAboveMinted(long last, long lead) {
    return last + lead;
  }

  /** Whether a late vote counts only for a hold that always had a majority. */
  boolean repairsOnlyValidHolds() {
    return true;
  }
}
