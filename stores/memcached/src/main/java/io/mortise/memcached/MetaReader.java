package io.mortise.memcached;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** Reads replies. Any other or longer text ends the connection. Not thread-safe. */
final class MetaReader {
  private static final int LONGEST_LINE = 4_096;
  private static final int LONGEST_VALUE = 1 << 20;
  private static final int MOST_STATISTICS = 10_000;

  private final InputStream in;
  private final byte[] buffer = new byte[4 * LONGEST_LINE];
  private int from;
  private int to;

  MetaReader(InputStream in) {
    this.in = in;
  }

  /** Whether nothing is there yet. */
  boolean isEmpty() {
    return from == to;
  }

  /** Waits for the next bytes, and keeps those that were read before. */
  private void fill() throws IOException {
    System.arraycopy(buffer, from, buffer, 0, to - from);
    to -= from;
    from = 0;
    int read = in.read(buffer, to, buffer.length - to);
    if (read < 0) {
      throw new EOFException("The server ended the connection.");
    }
    to += read;
  }

  /** The next reply. Blocks. */
  MetaReply read() throws IOException {
    String line = line();
    if (line.startsWith("STAT ") || line.equals("END")) {
      return new MetaReply("", "", statistics(line));
    }
    MetaReply reply = MetaReply.of(line);
    return reply.is("VA") ? new MetaReply(line, value(reply), Map.of()) : reply;
  }

  private String value(MetaReply reply) throws IOException {
    int length = (int) reply.length();
    if (length < 0 || reply.length() > LONGEST_VALUE) {
      throw new IOException("The server answered in another form: " + reply.shown());
    }
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; ) {
      if (isEmpty()) {
        fill();
      }
      int part = Math.min(length - i, to - from);
      System.arraycopy(buffer, from, bytes, i, part);
      from += part;
      i += part;
    }
    if (!line().isEmpty()) {
      throw new IOException("The answer is longer than it says: " + reply.shown());
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private Map<String, String> statistics(String first) throws IOException {
    Map<String, String> statistics = new HashMap<>();
    String line = first;
    while (!line.equals("END")) {
      String[] words = line.split(" ", 3);
      if (words.length < 2 || !words[0].equals("STAT") || statistics.size() > MOST_STATISTICS) {
        throw new IOException("The server tells no statistics.");
      }
      statistics.put(words[1], words.length == 2 ? "" : words[2]);
      line = line();
    }
    return statistics;
  }

  private String line() throws IOException {
    int length = 0;
    while (from + length == to || buffer[from + length] != '\n') {
      if (length == LONGEST_LINE) {
        throw new IOException("The server answered with too long a line.");
      } else if (from + length == to) {
        fill();
      } else {
        length++;
      }
    }
    int end = length > 0 && buffer[from + length - 1] == '\r' ? length - 1 : length;
    String line = new String(buffer, from, end, StandardCharsets.ISO_8859_1);
    from += length + 1;
    return line;
  }
}
