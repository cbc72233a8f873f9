package io.mortise.memcached;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads replies. What is none, or too long for one, ends the connection. Not thread-safe. */
final class MetaReader {
  private static final int LONGEST_LINE = 4_096;
  private static final int LONGEST_VALUE = 1 << 20;
  private static final int MOST_STATISTICS = 10_000;

  private final InputStream in;

  MetaReader(InputStream in) {
    this.in = new BufferedInputStream(in);
  }

  /** The next reply. Blocks. */
  MetaReply read() throws IOException {
    String line = line();
    if (line.startsWith("STAT ") || line.equals("END")) {
      return new MetaReply("", List.of(""), "", statistics(line));
    }
    MetaReply reply = MetaReply.of(line);
    return reply.is("VA") ? new MetaReply(line, reply.words(), value(reply), Map.of()) : reply;
  }

  private String value(MetaReply reply) throws IOException {
    int length;
    try {
      length = Integer.parseInt(reply.words().size() > 1 ? reply.words().get(1) : "");
    } catch (NumberFormatException e) {
      throw new IOException("The server answered in another form: " + reply.shown(), e);
    }
    if (length < 0 || length > LONGEST_VALUE) {
      throw new IOException("The server answered in another form: " + reply.shown());
    }
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length || !line().isEmpty()) {
      throw new EOFException("The answer is not whole.");
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
    ByteArrayOutputStream line = new ByteArrayOutputStream(80);
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("The server ended the connection.");
      } else if (line.size() >= LONGEST_LINE) {
        throw new IOException("The server answered with too long a line.");
      }
      line.write(next);
    }
    String text = line.toString(StandardCharsets.ISO_8859_1);
    return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
  }
}
