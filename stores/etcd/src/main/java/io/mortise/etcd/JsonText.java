package io.mortise.etcd;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Parts of JSON texts that etcd is sent. */
final class JsonText {
  private static final int FIRST_PRINTABLE = 0x20;

  private JsonText() {}

  /** Bytes, as etcd wants them. */
  static String base64(String text) {
    return base64(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String base64(byte[] bytes) {
    return '"' + Base64.getEncoder().encodeToString(bytes) + '"';
  }

  /** The first key after all keys that begin with this text, which is not empty. */
  static String base64After(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    // In UTF-8 no byte is the greatest.
    bytes[bytes.length - 1]++;
    return base64(bytes);
  }

  /** The reverse, without the quotes. */
  static String plain(String base64) {
    return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
  }

  /** A string of people's. */
  static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < FIRST_PRINTABLE) {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
