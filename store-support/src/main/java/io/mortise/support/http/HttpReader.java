package io.mortise.support.http;

import io.mortise.internal.runtime.FailureText;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Reads the answers of one connection: HTTP/1.1 (RFC 9112), and 1.0. An answer in another form, or
 * a too large one, is a {@link ProtocolException}. For one thread.
 */
final class HttpReader {
  private static final int MOST_OF_HEAD = 64 * 1024;

  /** Added to the length of each line, to limit the number of lines. */
  private static final int LINE_COST = 32;

  private static final int FIRST_FINAL = 200;
  private static final int NO_CONTENT = 204;
  private static final int NOT_MODIFIED = 304;

  private static final Pattern STATUS_LINE =
      Pattern.compile("HTTP/1\\.\\d [1-9]\\d\\d(?: [^\\r\\n]*)?");
  private static final Pattern HEADER_NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
  private static final Pattern LENGTH = Pattern.compile("\\d{1,15}");
  private static final Pattern CHUNK_LENGTH = Pattern.compile("[0-9A-Fa-f]{1,12}");
  private static final int DECIMAL = 10;
  private static final int HEXADECIMAL = 16;

  private final ByteSource source;
  private final byte[] buffer = new byte[16 * 1024];
  private int position;
  private int end;

  /** The rest of the allowance for the head of one answer. */
  private int left;

  /** The source of the bytes. */
  interface ByteSource {
    /** Reads at least one byte, and as many as are available; blocks. Returns -1 at the end. */
    int read(byte[] buffer) throws IOException;
  }

  /**
   * The head of an answer, before its body.
   *
   * @param headers the headers by their names in lower case
   * @param isLast whether the server accepts no further request on this connection
   */
  record AnswerHead(int status, Map<String, String> headers, boolean isLast) {}

  HttpReader(ByteSource source) {
    this.source = source;
  }

  /** Waits until there is something to read. Returns false at the end. */
  boolean awaitBytes() throws IOException {
    if (position == end) {
      // Reset first: if the read fails, bytes read before must not be there again.
      position = 0;
      end = 0;
      end = Math.max(0, source.read(buffer));
    }
    return position < end;
  }

  private void require() throws IOException {
    if (!awaitBytes()) {
      throw new EOFException("the server closed it in the middle of an answer");
    }
  }

  /** Reads up to the body. Skips interim answers. */
  AnswerHead readHead() throws IOException {
    if (!awaitBytes()) {
      throw new EOFException("the server closed it without an answer");
    }
    left = MOST_OF_HEAD;
    AnswerHead head;
    do {
      head = readOneHead();
    } while (head.status() < FIRST_FINAL);
    return head;
  }

  private AnswerHead readOneHead() throws IOException {
    String first = readLine();
    if (!STATUS_LINE.matcher(first).matches()) {
      throw new ProtocolException(
          "what answers does not speak HTTP: '" + FailureText.quoted(first) + "'");
    }
    Map<String, String> headers = readHeaders();
    String connection = headers.getOrDefault("connection", "").toLowerCase(Locale.ROOT);
    boolean isOld = first.startsWith("HTTP/1.0");
    return new AnswerHead(
        Integer.parseInt(first.substring(9, 12)), headers, isOld || connection.contains("close"));
  }

  /** Reads headers up to the empty line. */
  private Map<String, String> readHeaders() throws IOException {
    Map<String, String> headers = new HashMap<>();
    for (String line = readLine(); !line.isEmpty(); line = readLine()) {
      int colon = line.indexOf(':');
      if (colon < 0 || !HEADER_NAME.matcher(line.substring(0, colon)).matches()) {
        throw new ProtocolException("a header of the answer is malformed");
      }
      headers.merge(
          line.substring(0, colon).toLowerCase(Locale.ROOT),
          line.substring(colon + 1).strip(),
          (one, other) -> one + ", " + other);
    }
    return headers;
  }

  /** Reads a line, without its end. */
  private String readLine() throws IOException {
    StringBuilder line = new StringBuilder();
    left -= LINE_COST;
    while (true) {
      require();
      int from = position;
      while (position < end && buffer[position] != '\n') {
        position++;
      }
      line.append(new String(buffer, from, position - from, StandardCharsets.ISO_8859_1));
      left -= position - from;
      if (left < 0) {
        throw new ProtocolException("what stands before the answer's body is too long");
      }
      if (position < end) {
        position++;
        int last = line.length() - 1;
        if (last >= 0 && line.charAt(last) == '\r') {
          line.setLength(last);
        }
        return line.toString();
      }
    }
  }

  /**
   * Reads the body.
   *
   * @param most its maximum number of bytes
   * @return whether another answer may follow
   */
  boolean readBody(AnswerHead head, OutputStream to, long most) throws IOException {
    String coding = head.headers().get("transfer-encoding");
    String length = head.headers().get("content-length");
    if (head.status() == NO_CONTENT || head.status() == NOT_MODIFIED) {
      return !head.isLast() && position == end;
    } else if (coding != null) {
      if (!coding.equalsIgnoreCase("chunked")) {
        throw new ProtocolException("the answer is encoded: " + FailureText.quoted(coding));
      }
      readChunks(to, most);
      // An answer with chunks and a length may be an attack, as may one with more bytes behind its
      // end.
      return !head.isLast() && length == null && position == end;
    } else if (length != null) {
      copy(within(number(LENGTH, length, DECIMAL), most, most), to);
      return !head.isLast() && position == end;
    }
    long read = 0;
    while (awaitBytes()) {
      read = within(read + end - position, most, most);
      copy(end - position, to);
    }
    return false;
  }

  private void readChunks(OutputStream to, long most) throws IOException {
    long rest = most;
    while (true) {
      left = MOST_OF_HEAD;
      String line = readLine();
      int extension = line.indexOf(';');
      String length = (extension < 0 ? line : line.substring(0, extension)).strip();
      long chunk = within(number(CHUNK_LENGTH, length, HEXADECIMAL), rest, most);
      if (chunk == 0) {
        readHeaders();
        return;
      }
      rest -= chunk;
      copy(chunk, to);
      if (!readLine().isEmpty()) {
        throw new ProtocolException("a chunk of the answer does not end where it should");
      }
    }
  }

  private static long number(Pattern form, String text, int radix) throws ProtocolException {
    if (!form.matcher(text).matches()) {
      throw new ProtocolException("a length in the answer is malformed");
    }
    return Long.parseLong(text, radix);
  }

  /**
   * The length, if there is room for it.
   *
   * @param room the rest of the allowance of the answer
   */
  private static long within(long length, long room, long most) throws ProtocolException {
    if (length > room) {
      throw new ProtocolException("the answer is too long: more than " + most + " bytes");
    }
    return length;
  }

  private void copy(long length, OutputStream to) throws IOException {
    long missing = length;
    while (missing > 0) {
      require();
      int some = (int) Math.min(missing, end - position);
      to.write(buffer, position, some);
      position += some;
      missing -= some;
    }
  }
}
