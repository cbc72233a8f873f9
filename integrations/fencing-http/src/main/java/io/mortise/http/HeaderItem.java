package io.mortise.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The part of structured fields (RFC 9651) that fencing headers use: a token with parameters that
 * are strings, or display strings where a text is not ASCII. Stricter than the RFC: a parameter
 * given twice is refused, as two readers could differ about it.
 */
final class HeaderItem {
  /** A lock name of 512 bytes has three times as many characters when each is escaped. */
  private static final int LONGEST = 4096;

  private static final int SHOWN = 80;

  private final String version;
  private final Map<String, String> parameters = new LinkedHashMap<>();

  HeaderItem(String version) {
    this.version = version;
  }

  HeaderItem with(String name, String value) {
    parameters.put(name, value);
    return this;
  }

  Map<String, String> parameters() {
    return parameters;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(version);
    parameters.forEach(
        (name, value) -> text.append(';').append(name).append('=').append(quoted(value)));
    return text.toString();
  }

  private static String quoted(String value) {
    boolean ascii = value.chars().allMatch(c -> c >= ' ' && c <= '~');
    StringBuilder text = new StringBuilder(ascii ? "\"" : "%\"");
    if (ascii) {
      value
          .chars()
          .forEach(
              c -> {
                if (c == '"' || c == '\\') {
                  text.append('\\');
                }
                text.append((char) c);
              });
    } else {
      for (byte each : value.getBytes(UTF_8)) {
        if (each < ' ' || each > '~' || each == '%' || each == '"') {
          text.append('%').append(String.format("%02x", each & 0xff));
        } else {
          text.append((char) each);
        }
      }
    }
    return text.append('"').toString();
  }

  static InvalidFencingHeaderException invalid(String text, String why) {
    return new InvalidFencingHeaderException(
        "A header has no fencing token that can be read, since "
            + why
            + " ('"
            + shown(text)
            + "'). Send it like "
            + FencingHeader.NAME
            + ": v1;lock=\"invoice/42\";value=\"917\";holder=\"a\".");
  }

  /** Without characters that could forge a log line. */
  private static String shown(String text) {
    String part = text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
    return part.replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", "?");
  }

  static HeaderItem parse(String version, String text) {
    if (text.length() > LONGEST) {
      throw invalid(text, "it is longer than " + LONGEST + " characters");
    }
    return new Parser(text).item(version);
  }

  private static final class Parser {
    private final String text;
    private int at;

    Parser(String text) {
      this.text = text;
    }

    HeaderItem item(String version) {
      skipSpaces();
      String found = word();
      if (!found.equals(version)) {
        throw invalid(text, "it does not begin with " + version);
      }
      HeaderItem item = new HeaderItem(version);
      while (accept(';')) {
        skipSpaces();
        String name = word();
        String value = accept('=') ? value() : "";
        if (name.isEmpty() || item.parameters.putIfAbsent(name, value) != null) {
          throw invalid(text, "a parameter has no name, or stands there twice");
        }
      }
      skipSpaces();
      if (at < text.length()) {
        throw invalid(text, "something follows at character " + (at + 1));
      }
      return item;
    }

    private void skipSpaces() {
      while (at < text.length() && text.charAt(at) == ' ') {
        at++;
      }
    }

    private boolean accept(char wanted) {
      boolean there = at < text.length() && text.charAt(at) == wanted;
      if (there) {
        at++;
      }
      return there;
    }

    /** A key, a token or a number; empty if there is none. */
    private String word() {
      int from = at;
      while (at < text.length()
          && (isLetterOrDigit(text.charAt(at)) || "_-.*".indexOf(text.charAt(at)) >= 0)) {
        at++;
      }
      return text.substring(from, at);
    }

    private static boolean isLetterOrDigit(char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }

    private String value() {
      if (accept('"')) {
        return string();
      }
      if (accept('%')) {
        if (!accept('"')) {
          throw invalid(text, "a display string does not begin with %\"");
        }
        return displayString();
      }
      // A parameter that this version does not know.
      int unused = accept('?') ? 1 : 0;
      return word();
    }

    private String string() {
      StringBuilder value = new StringBuilder();
      while (at < text.length()) {
        char c = text.charAt(at++);
        if (c == '"') {
          return value.toString();
        }
        if (c == '\\') {
          c = at < text.length() ? text.charAt(at++) : ' ';
          if (c != '"' && c != '\\') {
            throw invalid(text, "only \" and \\ may follow a \\");
          }
        }
        if (c < ' ' || c > '~') {
          throw invalid(text, "a string has a character that is not printable ASCII");
        }
        value.append(c);
      }
      throw invalid(text, "a string has no end");
    }

    private String displayString() {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      while (at < text.length()) {
        char c = text.charAt(at++);
        if (c == '"') {
          try {
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes.toByteArray())).toString();
          } catch (CharacterCodingException e) {
            throw invalid(text, "a display string is no UTF-8");
          }
        }
        if (c < ' ' || c > '~') {
          throw invalid(text, "a display string has a character that is not printable ASCII");
        }
        bytes.write(c == '%' ? hexByte() : c);
      }
      throw invalid(text, "a string has no end");
    }

    /** In lower case only, as the RFC demands. */
    private int hexByte() {
      int value = 0;
      for (int i = 0; i < 2; i++) {
        int digit = at < text.length() ? "0123456789abcdef".indexOf(text.charAt(at++)) : -1;
        if (digit < 0) {
          throw invalid(text, "two hexadecimal digits in lower case must follow a %");
        }
        value = value * 16 + digit;
      }
      return value;
    }
  }
}
