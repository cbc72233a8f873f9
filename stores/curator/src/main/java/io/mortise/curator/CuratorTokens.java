package io.mortise.curator;

/**
 * Fencing tokens: {@code czxid << 16 | n}. The czxid is the number of the transaction that made the
 * lock node; it rises with every transaction of an ensemble. So it rises from node to node in a
 * line, even across restarts, deleted directories and overflowing sequence numbers. Nodes of
 * Curator have one too: its {@code Stat} gives a Curator client the same kind of token.
 */
final class CuratorTokens {
  /**
   * Tokens per block: after that many passes within a process the engine asks for more, and learns
   * whether another client waits.
   */
  static final int BLOCK = 64;

  private static final int BITS = 16;

  /** Reached after 32,768 elections: the upper half of a czxid counts them. */
  private static final long LAST_CZXID = 1L << 47;

  private CuratorTokens() {}

  /** The first token of a node; 0 if there is none, see {@link #isLast}. */
  static long first(long czxid) {
    return czxid >= LAST_CZXID ? 0 : czxid << BITS;
  }

  /** Whether a token is one of the node that this transaction made. */
  static boolean isOf(long czxid, long token) {
    return token >> BITS == czxid;
  }

  static boolean isLast(long token) {
    return token == 0;
  }

  /** Whether another block fits behind the one that begins at the token. */
  static boolean areLeft(long token, int given) {
    return (token & ((1L << BITS) - 1)) + given + BLOCK <= 1L << BITS;
  }
}
