package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * A number in a format is written by {@code %s}, or by {@code String.format(Locale.ROOT, …)}: with
 * other conversions an Arabic or Persian machine writes digits of its own, so that its keys and
 * requests are not those of the other machines.
 */
class LocalesInFormatsTest {
  /** A comment, a text block, a text, or a character; a text has a group of its own. */
  private static final Pattern TOKEN =
      Pattern.compile(
          "//[^\n]*|/\\*.*?\\*/|\"\"\"(.*?)\"\"\"|\"((?:\\\\.|[^\"\\\\\n])*)\"|'(?:\\\\.|[^'\\\\])+'",
          Pattern.DOTALL);

  /** Conversions whose result depends on a locale: digits, points, names of months, case. */
  private static final Pattern LOCALIZED =
      Pattern.compile("(?<!%)(?:%%)*%(?:\\d+\\$)?[-#+ 0,(<]*\\d*(?:\\.\\d+)?(?:[dfegEGtTSBC])");

  /** Values of a URL or a pattern, which no format is made of. */
  private static final Pattern NO_FORMAT = Pattern.compile("%2[A-F]|\\d% (up|or) ");

  private static List<String> localized(String code) {
    List<String> found = new ArrayList<>();
    Matcher token = TOKEN.matcher(code);
    while (token.find()) {
      String text = token.group(1) == null ? token.group(2) : token.group(1);
      if (text != null
          && LOCALIZED.matcher(NO_FORMAT.matcher(text).replaceAll("")).find()
          && !statement(code, token.start(), token.end()).contains("Locale.")) {
        found.add(text.strip());
      }
    }
    return found;
  }

  private static String statement(String code, int from, int to) {
    int begin = Math.max(code.lastIndexOf(";\n", from), code.lastIndexOf("{\n", from));
    int end = code.indexOf(";\n", to);
    return code.substring(Math.max(begin, 0), end < 0 ? code.length() : end);
  }

  @Test
  void givenFormats_thenNoneDependsOnTheLocale() throws IOException {
    List<String> found = new ArrayList<>();
    List<Path> sources = Modules.mainSources(Documentation.ROOT);
    for (Path source : sources) {
      localized(Files.readString(source))
          .forEach(text -> found.add(source.getFileName() + ": " + text));
    }
    assertThat(found).as("write %s, or String.format(Locale.ROOT, …)").isEmpty();
    assertThat(sources).hasSizeGreaterThan(300);
  }

  @Test
  void givenFormatThatDependsOnTheLocale_thenItIsNoticed() {
    assertThat(
            List.of(
                "\"{\\\"limit\\\":%d}\".formatted(limit);\n",
                "String.format(\"%019d\", token);\n",
                "\"\"\"\n  port %d\n\"\"\".formatted(port);\n",
                "out.printf(\"%1$,d of %.1f %%\", one, two);\n",
                "String.format(\"%tY\", day);\n"))
        .allMatch(code -> localized(code).size() == 1);
    assertThat(
            List.of(
                "\"{\\\"limit\\\":%s}\".formatted(limit);\n",
                "String.format(Locale.ROOT, \"%019d\", token);\n",
                "// As %010d is written.\n",
                "String.format(\"%04x %%d\", unit);\n",
                "\"a%2Ab\";\n"))
        .allMatch(code -> localized(code).isEmpty());
  }
}
