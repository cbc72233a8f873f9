package io.mortise.redis.transport;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes commands in the form that Redis reads: a list of texts, each with its length. Buffers them
 * until they are sent. Not thread-safe.
 */
final class RespWriter {
  private static final int FIRST = 8 * 1024;

  /** A buffer that grew beyond this for one large command is released. */
  private static final int KEPT = 256 * 1024;

  private byte[] buffer = new byte[FIRST];
  private int size;

  void command(String... words) {
    header('*', words.length);
    for (String word : words) {
      byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
      header('$', bytes.length);
      room(bytes.length + 2);
      System.arraycopy(bytes, 0, buffer, size, bytes.length);
      size += bytes.length;
      buffer[size++] = '\r';
      buffer[size++] = '\n';
    }
  }

  private void header(char type, int number) {
    room(16);
    buffer[size++] = (byte) type;
    if (number < 10) {
      buffer[size++] = (byte) ('0' + number);
    } else {
      int digits = number < 100 ? 2 : number < 1000 ? 3 : Integer.toString(number).length();
      for (int at = size + digits - 1, left = number; at >= size; at--, left /= 10) {
        buffer[at] = (byte) ('0' + left % 10);
      }
      size += digits;
    }
    buffer[size++] = '\r';
    buffer[size++] = '\n';
  }

  private void room(int more) {
    if (buffer.length - size < more) {
      buffer = Arrays.copyOf(buffer, Math.max(Math.addExact(size, more), buffer.length * 2));
    }
  }

  /** Sends the buffered commands, in one write. */
  void sendTo(OutputStream out) throws IOException {
    try {
      out.write(buffer, 0, size);
    } finally {
      size = 0;
      if (buffer.length > KEPT) {
        buffer = new byte[FIRST];
      }
    }
  }
}
