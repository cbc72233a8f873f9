package io.mortise.spi;

import io.mortise.admin.LockParticipant.ClientInfo;

/**
 * The identity of a client, for people who look at a lock.
 *
 * @param host the machine's name
 * @param pid the process id, 0 if unknown
 * @param name the client's own name
 */
public record ClientLabel(String host, long pid, String name) {
  private static final int PART = 100;

  /** Cuts long parts and replaces characters that would break the encoded form. */
  public ClientLabel {
    host = clean(host);
    name = clean(name);
  }

  /** One line: {@code host pid name}, with blanks only as separators. */
  public String encoded() {
    return (host.isEmpty() ? "-" : host.replace(' ', '_')) + " " + pid + " " + name;
  }

  /** The reverse of {@link #encoded()}; a text of another form becomes the name. */
  public static ClientLabel parse(String encoded) {
    String[] parts = encoded.split(" ", 3);
    if (parts.length == 3 && parts[1].matches("\\d{1,18}")) {
      return new ClientLabel(parts[0], Long.parseLong(parts[1]), parts[2]);
    }
    return new ClientLabel("-", 0, encoded);
  }

  /** The label as a value of the API. */
  public ClientInfo info() {
    return new ClientInfo(host, pid, name);
  }

  /** The label for messages: {@code host:pid name}. */
  @Override
  public String toString() {
    return (host.isEmpty() ? "-" : host) + ":" + pid + (name.isEmpty() ? "" : " " + name);
  }

  private static String clean(String part) {
    String cleaned = part.replaceAll("[\\p{Cc}\\p{Zl}\\p{Zp}]", "?");
    return cleaned.length() > PART ? cleaned.substring(0, PART) : cleaned;
  }
}
