package io.mortise.console.view;

import io.mortise.spi.StoreUrl;
import java.text.Normalizer;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Sanitizes foreign text for output: removes secrets and control characters. */
public final class OutputSanitizer {
  /** Up to the last at-sign: a password may hold one. */
  private static final Pattern USER_INFO = Pattern.compile("(//[^/@:\\s]*):\\S*@");

  /** Without a colon: some drivers take that for a password. */
  private static final Pattern LONE_USER_INFO = Pattern.compile("//[^@:/?\\s]+@");

  /** With one slash or both omitted. */
  private static final Pattern USER_INFO_WITHOUT_SLASHES =
      Pattern.compile(
          "(?<![\\w./:-])((?:jdbc:)?[a-z][a-z0-9+.-]*:(?:[^/@:\\s]+|/(?!/)[^/@:\\s]*):)(?![/\\\\*])\\S*@");

  /** An ellipsis occurs in messages about the syntax. */
  private static final Pattern SECRET_VALUE =
      Pattern.compile(
          "(?i)((?<![\\w.-])[\\w.-]*(?:password|passwd|pwd|secret)=|[?&;][\\w.-]*token=)(?!\\*\\*\\*|…)[^&;\\s]*");

  /** The length limit, as text of a store may be as long as a value in it. */
  private static final int MOST = 4000;

  private OutputSanitizer() {}

  /** The store URL without secrets. */
  public static String url(String url) {
    try {
      return hide(StoreUrl.parse(url).toString());
    } catch (IllegalArgumentException e) {
      return hide(url);
    }
  }

  /** Replaces apparent passwords by stars. */
  public static String hide(String text) {
    String withoutPassword = USER_INFO.matcher(text).replaceAll("$1:***@");
    String withoutUserInfo = LONE_USER_INFO.matcher(withoutPassword).replaceAll("//***@");
    String withoutSlashes = USER_INFO_WITHOUT_SLASHES.matcher(withoutUserInfo).replaceAll("$1***@");
    return SECRET_VALUE.matcher(withoutSlashes).replaceAll("$1***");
  }

  /** The message of a failure, without apparent passwords, and cut. */
  public static String message(Throwable failure) {
    return cut(hide(cut(String.valueOf(failure.getMessage()))));
  }

  private static String cut(String text) {
    return text.length() <= MOST
        ? text
        : text.substring(0, text.offsetByCodePoints(0, MOST / 2)) + "…";
  }

  /**
   * Escapes control characters, including those for the direction of text: labels and names in a
   * store are foreign input, which must not control a terminal. Escapes marks of a text that is not
   * in Unicode's normal form C, as it would look like another name. Cuts after 2,000 characters if
   * there are more than 4,000.
   */
  public static String text(@Nullable String foreign) {
    return escape(
        foreign == null ? null : cut(foreign),
        "",
        c -> String.format(c < 0x100 ? "\\x%02x" : "\\u{%x}", c));
  }

  /** The same for text of several lines. */
  public static String lines(@Nullable String foreign) {
    return escape(foreign, "\n\t", c -> String.format(c < 0x100 ? "\\x%02x" : "\\u{%x}", c));
  }

  /** The same for JSON, in whose texts such an escape stands for the character. */
  public static String json(String json) {
    return escape(
        json,
        "\n",
        c ->
            Character.toString(c)
                .chars()
                .mapToObj(unit -> String.format("\\u%04X", unit))
                .collect(Collectors.joining()));
  }

  private static String escape(@Nullable String foreign, String kept, IntFunction<String> escape) {
    if (foreign == null) {
      return "";
    }
    boolean normal = Normalizer.isNormalized(foreign, Normalizer.Form.NFC);
    StringBuilder safe = new StringBuilder(foreign.length());
    foreign
        .codePoints()
        .forEach(
            c -> {
              if ((isHarmless(c) && (normal || !isMark(c))) || kept.indexOf(c) >= 0) {
                safe.appendCodePoint(c);
              } else {
                safe.append(escape.apply(c));
              }
            });
    return safe.toString();
  }

  private static boolean isMark(int c) {
    return switch (Character.getType(c)) {
      case Character.NON_SPACING_MARK, Character.COMBINING_SPACING_MARK, Character.ENCLOSING_MARK ->
          true;
      default -> false;
    };
  }

  private static boolean isHarmless(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
