package io.mortise.etcd;

import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a JSON text: objects as maps, arrays as lists, strings and numbers as strings, {@code true}
 * and {@code false} as such. Nulls are left out of their objects. Etcd writes its 64-bit numbers as
 * strings, so numbers need no type of their own. Not thread-safe.
 */
final class JsonReader {
  /** Etcd nests a handful of objects. A text that nests more is not etcd's. */
  private static final int DEEPEST = 64;

  private final String text;
  private int at;
  private int depth;

  private JsonReader(String text) {
    this.text = text;
  }

  /**
   * Reads an object.
   *
   * @throws IllegalArgumentException if the text is anything else
   */
  static JsonObject read(String text) {
    JsonReader reader = new JsonReader(text);
    Object value = reader.value();
    reader.skipBlanks();
    if (value instanceof JsonObject object && reader.at == text.length()) {
      return object;
    }
    throw reader.wrong();
  }

  /** An object, whose fields may be missing: etcd leaves out what is zero, false or empty. */
  record JsonObject(Map<String, Object> fields) {
    /** A string or number; empty if it is missing. */
    String text(String name) {
      return fields.get(name) instanceof String text ? text : "";
    }

    /**
     * A number; 0 if it is missing.
     *
     * @throws StoreUnfitException if it has more than 64 bits, or is none
     */
    long number(String name) {
      String text = text(name);
      try {
        return text.isEmpty() ? 0 : Long.parseLong(text);
      } catch (NumberFormatException e) {
        throw new StoreUnfitException(
            "What answers is not etcd: its '%s' is '%s'. Check host and port."
                .formatted(name, FailureText.quoted(text)));
      }
    }

    /** A flag; false if it is missing. */
    boolean flag(String name) {
      return fields.get(name) instanceof Boolean flag && flag;
    }

    /** An object; one without fields if it is missing. */
    JsonObject object(String name) {
      return fields.get(name) instanceof JsonObject object ? object : new JsonObject(Map.of());
    }

    /** The objects of an array; none if it is missing. */
    List<JsonObject> objects(String name) {
      return fields.get(name) instanceof List<?> list
          ? list.stream().filter(JsonObject.class::isInstance).map(JsonObject.class::cast).toList()
          : List.of();
    }
  }

  private @Nullable Object value() {
    skipBlanks();
    char first = next();
    return switch (first) {
      case '{' -> object();
      case '[' -> array();
      case '"' -> string();
      case 't' -> word("true", true);
      case 'f' -> word("false", false);
      case 'n' -> word("null", null);
      default -> number(first);
    };
  }

  private JsonObject object() {
    Map<String, Object> fields = new LinkedHashMap<>();
    deeper();
    skipBlanks();
    if (!ends('}')) {
      do {
        skipBlanks();
        expect('"');
        String name = string();
        skipBlanks();
        expect(':');
        Object value = value();
        if (value != null) {
          fields.put(name, value);
        }
        skipBlanks();
      } while (ends(','));
      expect('}');
    }
    depth--;
    return new JsonObject(fields);
  }

  private List<Object> array() {
    List<Object> values = new ArrayList<>();
    deeper();
    skipBlanks();
    if (!ends(']')) {
      do {
        Object value = value();
        if (value != null) {
          values.add(value);
        }
        skipBlanks();
      } while (ends(','));
      expect(']');
    }
    depth--;
    return values;
  }

  private void deeper() {
    if (++depth > DEEPEST) {
      throw wrong();
    }
  }

  private String string() {
    StringBuilder string = new StringBuilder();
    for (char c = next(); c != '"'; c = next()) {
      string.append(c == '\\' ? escaped() : c);
    }
    return string.toString();
  }

  private char escaped() {
    char c = next();
    return switch (c) {
      case '"', '\\', '/' -> c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> unicode();
      default -> throw wrong();
    };
  }

  private char unicode() {
    int code = 0;
    for (int i = 0; i < 4; i++) {
      int digit = Character.digit(next(), 16);
      if (digit < 0) {
        throw wrong();
      }
      code = code * 16 + digit;
    }
    return (char) code;
  }

  private String number(char first) {
    int begin = at - 1;
    if (first != '-' && !isDigit(first)) {
      throw wrong();
    }
    while (at < text.length() && isNumeric(text.charAt(at))) {
      at++;
    }
    return text.substring(begin, at);
  }

  private static boolean isNumeric(char c) {
    return isDigit(c) || "+-.eE".indexOf(c) >= 0;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private @Nullable Object word(String word, @Nullable Object value) {
    if (!text.startsWith(word, at - 1)) {
      throw wrong();
    }
    at += word.length() - 1;
    return value;
  }

  private void skipBlanks() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private char next() {
    if (at == text.length()) {
      throw wrong();
    }
    return text.charAt(at++);
  }

  /** Whether this is next; takes it then. */
  private boolean ends(char c) {
    boolean found = at < text.length() && text.charAt(at) == c;
    at += found ? 1 : 0;
    return found;
  }

  private void expect(char c) {
    if (!ends(c)) {
      throw wrong();
    }
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException(
        "Not a JSON object, at character %s of %s.".formatted(at, text.length()));
  }
}
