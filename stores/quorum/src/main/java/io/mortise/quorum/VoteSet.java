package io.mortise.quorum;

import io.mortise.spi.Votes;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The votes for a hold: the sessions, in the members that granted it, that it depends on. Over for
 * good as soon as there are too few. Votes are added and removed under the lock of the attempt;
 * reading takes none.
 */
final class VoteSet implements Votes {
  private final int needed;
  private final QuorumRules rules;
  private volatile @Nullable MemberSession[] votes;
  private volatile boolean over;

  VoteSet(@Nullable MemberSession[] votes, int needed, QuorumRules rules) {
    this.votes = votes.clone();
    this.needed = rules.requiredVotes(needed);
    this.rules = rules;
  }

  @Override
  public OptionalLong countedFrom() {
    @Nullable MemberSession[] now = votes;
    boolean found = false;
    long best = 0;
    for (MemberSession candidate : now) {
      if (counts(candidate)) {
        long from = candidate.renewedAt();
        int asLate = 0;
        for (MemberSession other : now) {
          if (counts(other) && other.renewedAt() - from >= 0) {
            asLate++;
          }
        }
        if (asLate >= needed && (!found || from - best > 0)) {
          best = from;
          found = true;
        }
      }
    }
    return over || !found ? OptionalLong.empty() : OptionalLong.of(best);
  }

  private boolean counts(@Nullable MemberSession vote) {
    return vote != null && !(vote.isLost() && rules.votesEndWithTheirSession());
  }

  /** A member grants late, or again. It counts for a hold that has had its majority all along. */
  void add(MemberSession vote, long latestValid) {
    OptionalLong from = countedFrom();
    boolean valid = from.isPresent() && from.getAsLong() - latestValid > 0;
    if (valid || !rules.repairsOnlyValidHolds()) {
      @Nullable MemberSession[] next = votes.clone();
      next[vote.member.index] = vote;
      votes = next;
    }
  }

  /** Removes a vote; returns whether the hold is thereby over. */
  boolean drop(int member) {
    if (rules.votesEndWithTheirSession()) {
      @Nullable MemberSession[] next = votes.clone();
      next[member] = null;
      votes = next;
    }
    return isOver();
  }

  /** Checks whether too few are left, and remembers that. */
  boolean isOver() {
    if (!over && countedFrom().isEmpty()) {
      over = true;
    }
    return over;
  }

  boolean has(MemberSession session) {
    return votes[session.member.index] == session;
  }

  void end() {
    over = true;
  }
}
