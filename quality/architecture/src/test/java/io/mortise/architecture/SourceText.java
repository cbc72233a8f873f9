package io.mortise.architecture;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A source, split into code and comments.
 *
 * @param codeLines the lines that are neither blank nor comment
 */
record SourceText(long codeLines, List<Comment> comments) {
  /**
   * A comment, or several line comments below each other.
   *
   * @param line of its beginning, from one
   * @param prose without tags, in one line; a block tag ends the sentence before it
   */
  record Comment(int line, String prose) {
    /** Returns the number of words; a lone punctuation mark is none. */
    long words() {
      return WORD.matcher(prose).results().count();
    }
  }

  private static final Pattern WORD = Pattern.compile("\\S*\\w\\S*");

  private static final String STRING = "\"[^\"\\\\\n]*+(?:\\\\.[^\"\\\\\n]*+)*+\"";
  private static final String CHARACTER = "'[^'\\\\\n]*+(?:\\\\.[^'\\\\\n]*+)*+'";
  private static final Pattern JAVA =
      Pattern.compile(
          "\"\"\"(?s:.*?)(?<!\\\\)\"\"\"|"
              + STRING
              + "|"
              + CHARACTER
              + "|(?<line>//[^\n]*)|(?<block>/\\*(?s:.*?)\\*/)");
  private static final Pattern SQL =
      Pattern.compile("'[^']*'|(?<line>--[^\n]*)|(?<block>/\\*(?s:.*?)\\*/)");
  private static final Pattern LUA =
      Pattern.compile(STRING + "|" + CHARACTER + "|(?<line>--[^\n]*)|(?<block>(?!))");

  /** How to find strings and comments, by the ending of a file's name. */
  private static final Map<String, Pattern> LANGUAGES =
      Map.of("java", JAVA, "kt", JAVA, "sql", SQL, "lua", LUA);

  private static final Pattern SAME_COMMENT = Pattern.compile("[ \t\r]*\n[ \t]*");
  private static final Pattern LICENCE = Pattern.compile("\\s*(?:Copyright|Licensed)");

  /** Whether files with this ending can be split. */
  static boolean canSplit(String ending) {
    return LANGUAGES.containsKey(ending);
  }

  static SourceText of(String text, String ending) {
    StringBuilder code = new StringBuilder();
    List<Comment> comments = new ArrayList<>();
    StringBuilder lines = new StringBuilder();
    int begin = 0;
    int end = 0;
    var matcher = LANGUAGES.get(ending).matcher(text);
    while (matcher.find()) {
      String line = matcher.group("line");
      String block = matcher.group("block");
      if (line == null && block == null) {
        continue;
      }
      String between = text.substring(end, matcher.start());
      code.append(between).append(" ");
      if (line == null || !SAME_COMMENT.matcher(between).matches()) {
        add(comments, text, begin, lines);
        begin = matcher.start();
      }
      if (line != null) {
        lines.append(' ').append(line, 2, line.length());
      } else {
        add(comments, text, begin, new StringBuilder(body(block)));
        code.append("\n".repeat((int) block.chars().filter(c -> c == '\n').count()));
      }
      end = matcher.end();
    }
    add(comments, text, begin, lines);
    code.append(text.substring(end));
    long codeLines = code.toString().lines().filter(one -> !one.isBlank()).count();
    return new SourceText(codeLines, List.copyOf(comments));
  }

  /** Adds what was gathered, if anything was, and empties it. */
  private static void add(List<Comment> comments, String text, int begin, StringBuilder gathered) {
    if (!gathered.isEmpty() && !LICENCE.matcher(gathered).lookingAt()) {
      int line = 1 + (int) text.chars().limit(begin).filter(c -> c == '\n').count();
      comments.add(new Comment(line, prose(gathered.toString())));
    }
    gathered.setLength(0);
  }

  private static String body(String block) {
    return block
        .substring(2, block.length() - 2)
        .replaceFirst("^\\*+", "")
        .replaceAll("\n[ \t]*\\*", "\n");
  }

  private static String prose(String comment) {
    return comment
        .replaceAll("(?s)<pre>.*?</pre>", " ")
        .replaceAll("\\{@\\w+([^{}]*)\\}", "$1")
        .replaceAll("@(?:param\\s+\\S+|throws\\s+\\S+|\\w+)", ". ")
        .replaceAll("</?(?:code|em|i|b|strong|a)\\b[^>]*>", "")
        .replaceAll("</?\\w+[^>]*>", ". ")
        .replaceAll("\\s+", " ")
        .strip();
  }
}
