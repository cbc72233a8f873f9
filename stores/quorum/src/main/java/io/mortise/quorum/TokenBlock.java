package io.mortise.quorum;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive tokens that a member minted, or that a majority did.
 *
 * @param count at least 1
 */
record TokenBlock(long first, int count) {
  /** The block of members that mint no tokens in common. */
  static final TokenBlock NONE = new TokenBlock(0, 1);

  long last() {
    return first + count - 1;
  }

  boolean contains(TokenBlock other) {
    return first <= other.first && other.last() <= last();
  }

  /**
   * The longest block of tokens that are all in at least that many of the given ones; null if there
   * is none. Members that were asked for tokens from the same floor, above all their clocks, give
   * the same block.
   */
  static @Nullable TokenBlock common(List<TokenBlock> minted, int needed) {
    TokenBlock best = null;
    for (TokenBlock candidate : minted) {
      long first = candidate.first();
      long last =
          minted.stream()
              .filter(block -> block.first() <= first && first <= block.last())
              .map(TokenBlock::last)
              .sorted((a, b) -> Long.compare(b, a))
              .skip(needed - 1L)
              .findFirst()
              .orElse(first - 1);
      if (last >= first && (best == null || last - first >= best.count())) {
        best = new TokenBlock(first, (int) (last - first + 1));
      }
    }
    return best;
  }
}
