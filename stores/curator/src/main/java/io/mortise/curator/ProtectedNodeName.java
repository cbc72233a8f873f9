package io.mortise.curator;

import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of nodes as Curator makes them with protection: {@code _c_<uuid>-<word><sequence>}. In the
 * nodes of this store the 128 bits of the UUID are the attempt id, 72 of the session and 56 of the
 * number, so that a node is found again by its attempt after a lost reply, and an attempt by its
 * node.
 */
final class ProtectedNodeName {
  private static final Pattern PROTECTED =
      Pattern.compile(
          "_c_([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})-.*");

  private static final String DIGITS =
      "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

  private static final int SESSION_HEX = 18;
  private static final int NUMBER_HEX = 14;
  private static final BigInteger BASE = BigInteger.valueOf(DIGITS.length());

  private static final long LAST_NUMBER = 1L << 53;

  /** From here on a directory has to be emptied before the numbers of its nodes overflow. */
  private static final long LAST_SEQUENCE = Integer.MAX_VALUE - 1_000_000L;

  private ProtectedNodeName() {}

  /** Prefix of the names of an attempt's nodes, and of no others. */
  static String prefix(AttemptId attempt) {
    BigInteger session = BigInteger.ZERO;
    for (char digit : attempt.session().value().toCharArray()) {
      session = session.multiply(BASE).add(BigInteger.valueOf(DIGITS.indexOf(digit)));
    }
    String hex =
        String.format("%0" + SESSION_HEX + "x%0" + NUMBER_HEX + "x", session, attempt.number());
    return "_c_"
        + String.join(
            "-",
            hex.substring(0, 8),
            hex.substring(8, 12),
            hex.substring(12, 16),
            hex.substring(16, 20),
            hex.substring(20))
        + "-";
  }

  /**
   * The attempt of a node. A node of Curator gets an id by the same rule, and any other node one
   * derived from its name: made up, but always the same.
   */
  static AttemptId attempt(String node) {
    Matcher name = PROTECTED.matcher(node);
    String hex =
        name.matches()
            ? name.group(1) + name.group(2) + name.group(3) + name.group(4) + name.group(5)
            : digest(node);
    BigInteger session = new BigInteger(hex.substring(0, SESSION_HEX), 16);
    char[] digits = new char[SessionId.LENGTH];
    for (int i = digits.length - 1; i >= 0; i--) {
      digits[i] = DIGITS.charAt(session.mod(BASE).intValue());
      session = session.divide(BASE);
    }
    long number = Long.parseLong(hex.substring(SESSION_HEX, SESSION_HEX + NUMBER_HEX), 16);
    boolean isNumber = number > 0 && number <= LAST_NUMBER;
    return new AttemptId(
        new SessionId(new String(digits)), isNumber ? number : 1 + number % LAST_NUMBER);
  }

  private static String digest(String node) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(node.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash, 0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Whether the numbers of a directory are about to overflow, or have: the server goes on with
   * negative ones, which Curator and we would take for earlier.
   */
  static boolean isLast(String sequence) {
    return sequence.startsWith("-") || Long.parseLong(sequence) >= LAST_SEQUENCE;
  }
}
