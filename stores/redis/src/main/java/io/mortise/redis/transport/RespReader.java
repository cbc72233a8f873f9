package io.mortise.redis.transport;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads replies of a server, in RESP3 and the part of RESP2 that is left in it. A text of any kind
 * becomes a {@link String}, an integer or a truth value a {@link Long}, a list, set or map a {@link
 * List} (a map with its keys and values in turn), nothing null, an error an {@link
 * ErrorReplyException}, which is a value here: it may stand in a list. Attributes are skipped.
 *
 * <p>Any other input, or input beyond the bounds, ends the connection by a {@link
 * ProtocolException}: the start of the next answer is then unknown. Not thread-safe.
 */
final class RespReader {
  static final int MAX_TEXT = 32 * 1024 * 1024;
  static final int MAX_ITEMS = 1024 * 1024;

  /** The most text in one answer. */
  static final int MAX_ANSWER = 2 * MAX_TEXT;

  static final int MAX_DEPTH = 8;

  /** The longest text without a length of its own: errors and states. */
  static final int MAX_LINE = 16 * 1024;

  private final InputStream in;
  private byte[] buffer = new byte[MAX_LINE];
  private int at;
  private int end;

  /** List items read for this answer; all of its lists together must keep to the bound. */
  private int items;

  /** Bytes of text read for this answer. */
  private int bytes;

  RespReader(InputStream in) {
    this.in = in;
  }

  /** A message that the server sends unasked: its first item tells the kind. */
  record PushMessage(List<@Nullable Object> items) {
    boolean is(String kind) {
      return !items.isEmpty() && kind.equals(items.get(0));
    }
  }

  /** The other side does not speak RESP. */
  static final class ProtocolException extends IOException {
    private static final long serialVersionUID = 1L;

    ProtocolException(String what) {
      super("The server does not speak the Redis protocol: " + what + ".");
    }
  }

  /** The next answer or {@link PushMessage}. Blocks until it is there as a whole. */
  @Nullable Object read() throws IOException {
    items = 0;
    bytes = 0;
    return read(0);
  }

  /** Whether some of the next answer has arrived. */
  boolean hasMore() {
    return at < end;
  }

  /** Blocks until {@link #hasMore()}. */
  void await() throws IOException {
    need(1);
  }

  private @Nullable Object read(int depth) throws IOException {
    while (true) {
      byte type = next();
      switch (type) {
        case '+', ',', '(' -> {
          return line();
        }
        case '-' -> {
          return new ErrorReplyException(line());
        }
        case ':' -> {
          return number();
        }
        case '#' -> {
          return truth();
        }
        case '_' -> {
          endOfLine();
          return null;
        }
        case '$' -> {
          return text();
        }
        case '=' -> {
          String text = text();
          // Verbatim text: three letters give its format.
          return text == null || text.length() < 4 ? text : text.substring(4);
        }
        case '!' -> {
          String text = text();
          return text == null ? null : new ErrorReplyException(text);
        }
        case '*', '~' -> {
          return list(1, depth);
        }
        case '%' -> {
          return list(2, depth);
        }
        case '>' -> {
          if (depth > 0) {
            throw new ProtocolException("a push inside an answer");
          }
          List<@Nullable Object> push = list(1, depth);
          if (push == null) {
            throw new ProtocolException("a push without items");
          }
          return new PushMessage(push);
        }
        case '|' -> {
          // Counted as an item, or a server could send attributes for ever.
          count(1);
          list(2, depth);
        }
        default -> throw new ProtocolException("an answer that begins with byte " + (type & 0xff));
      }
    }
  }

  private @Nullable List<@Nullable Object> list(int factor, int depth) throws IOException {
    long count = number();
    if (count == -1) {
      return null;
    }
    if (count < 0 || count > MAX_ITEMS) {
      throw new ProtocolException("a list of " + count + " items");
    }
    count((int) count * factor);
    if (depth == MAX_DEPTH) {
      throw new ProtocolException("lists in lists, " + (depth + 1) + " deep");
    }
    // Grows as items arrive: a huge length is cheap to claim.
    List<@Nullable Object> list = new ArrayList<>((int) Math.min(count * factor, 128));
    for (long i = 0; i < count * factor; i++) {
      list.add(read(depth + 1));
    }
    return list;
  }

  private void count(int more) throws ProtocolException {
    items += more;
    if (items > MAX_ITEMS) {
      throw new ProtocolException("lists of " + items + " items in one answer");
    }
  }

  private void countBytes(int more) throws ProtocolException {
    bytes += more;
    if (bytes > MAX_ANSWER) {
      throw new ProtocolException("texts of " + bytes + " bytes in one answer");
    }
  }

  private @Nullable String text() throws IOException {
    long length = number();
    if (length == -1) {
      return null;
    }
    if (length < 0 || length > MAX_TEXT) {
      throw new ProtocolException("a text of " + length + " bytes");
    }
    int size = (int) length;
    countBytes(size);
    String text;
    if (size <= buffer.length - 2) {
      need(size + 2);
      text = new String(buffer, at, size, StandardCharsets.UTF_8);
      at += size;
    } else {
      text = longText(size);
    }
    endOfLine();
    return text;
  }

  private String longText(int size) throws IOException {
    int have = end - at;
    byte[] rest = in.readNBytes(size - have);
    if (rest.length < size - have) {
      throw new EOFException("The server closed the connection.");
    }
    byte[] whole = new byte[size];
    System.arraycopy(buffer, at, whole, 0, have);
    System.arraycopy(rest, 0, whole, have, rest.length);
    at = end;
    return new String(whole, StandardCharsets.UTF_8);
  }

  private long number() throws IOException {
    byte first = next();
    boolean negative = first == '-';
    if (negative || first == '+') {
      first = next();
    }
    // Counted down, as there is one more negative number than positive ones.
    long value = 0;
    int digits = 0;
    for (byte digit = first; digit != '\r'; digit = next(), digits++) {
      if (digit < '0' || digit > '9' || digits == 19) {
        throw new ProtocolException("a number that is none");
      }
      value = value * 10 - (digit - '0');
      if (value > 0) {
        throw new ProtocolException("a number beyond 64 bits");
      }
    }
    if (digits == 0 || next() != '\n' || (!negative && value == Long.MIN_VALUE)) {
      throw new ProtocolException("a number that is none");
    }
    return negative ? value : -value;
  }

  private long truth() throws IOException {
    byte value = next();
    if (value != 't' && value != 'f') {
      throw new ProtocolException("a truth value that is none");
    }
    endOfLine();
    return value == 't' ? 1 : 0;
  }

  private String line() throws IOException {
    for (int length = 0; ; length++) {
      if (length > MAX_LINE - 2) {
        throw new ProtocolException("a line of more than " + length + " bytes");
      }
      need(length + 1);
      if (buffer[at + length] == '\r') {
        countBytes(length);
        String line = new String(buffer, at, length, StandardCharsets.UTF_8);
        at += length;
        endOfLine();
        return line;
      }
    }
  }

  private void endOfLine() throws IOException {
    if (next() != '\r' || next() != '\n') {
      throw new ProtocolException("a line that does not end");
    }
  }

  private byte next() throws IOException {
    if (at == end) {
      need(1);
    }
    return buffer[at++];
  }

  /** Reads until that many bytes are there, which the buffer can hold. */
  private void need(int bytes) throws IOException {
    while (end - at < bytes) {
      if (at == end) {
        at = 0;
        end = 0;
      } else if (buffer.length - at < bytes) {
        System.arraycopy(buffer, at, buffer, 0, end - at);
        end -= at;
        at = 0;
      }
      int read = in.read(buffer, end, buffer.length - end);
      if (read < 0) {
        throw new EOFException("The server closed the connection.");
      }
      end += read;
    }
  }
}
