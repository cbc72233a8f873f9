package io.mortise.recipe.engine;

import io.mortise.LockException;
import io.mortise.spi.Fact;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Optional;

/**
 * A latch's state in the store. As text: {@code 1 L <id> <parties> <digests>} with the concatenated
 * digests of the parties that have counted down, {@code *} for an open latch. Immutable.
 *
 * @param id distinguishes two latches of one name, if the first was deleted
 * @param parties the number of parties that have to count down
 * @param digests the digests of the parties that have; empty if it is open
 * @param isOpen whether all have
 */
record LatchDocument(String id, int parties, String digests, boolean isOpen) {
  private static final String HEAD = "1 L ";

  /** Up to this many parties a digest has 96 bits, above 48: all fit into a fact. */
  private static final int MOST_WIDE = 500;

  private static final int WIDE = 16;
  private static final int NARROW = 8;

  static LatchDocument first(String id, int parties) {
    return new LatchDocument(id, parties, "", false);
  }

  private static int width(int parties) {
    return parties <= MOST_WIDE ? WIDE : NARROW;
  }

  /** The digest of a party in a latch of this many. */
  static String digest(String party, int parties) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(party.getBytes(StandardCharsets.UTF_8));
      return Base64.getUrlEncoder().encodeToString(hash).substring(0, width(parties));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256.", e);
    }
  }

  private boolean has(String digest) {
    for (int i = 0; i < digests.length(); i += digest.length()) {
      if (digests.startsWith(digest, i)) {
        return true;
      }
    }
    return false;
  }

  /** The document after a party has counted down; the same if it has before, or if all have. */
  LatchDocument counted(String party) {
    String digest = digest(party, parties);
    if (isOpen || has(digest)) {
      return this;
    }
    boolean opens = remaining() == 1;
    return new LatchDocument(id, parties, opens ? "" : digests + digest, opens);
  }

  int remaining() {
    return isOpen ? 0 : parties - digests.length() / width(parties);
  }

  String encode() {
    return HEAD + id + " " + parties + " " + (isOpen ? "*" : digests);
  }

  /**
   * Decodes the store's text; empty if there is none.
   *
   * @throws LockException if another program or a later version wrote it, or if it has another
   *     number of parties
   */
  static Optional<LatchDocument> decode(String name, int parties, Fact fact) {
    if (fact.content().isEmpty()) {
      return Optional.empty();
    }
    DocumentWords words = new DocumentWords("latch '" + name + "'", fact.content(), HEAD, 3);
    int present = words.number(1);
    String digests = words.text(2);
    if (present != parties) {
      throw new LockException(
          "Latch '%s' was begun for %s parties, not %s. Give all clients the same number, or delete the latch."
              .formatted(name, present, parties));
    }
    boolean open = digests.equals("*");
    if (!open && digests.length() % width(parties) != 0) {
      throw words.unknown(null);
    }
    return Optional.of(new LatchDocument(words.text(0), parties, open ? "" : digests, open));
  }
}
