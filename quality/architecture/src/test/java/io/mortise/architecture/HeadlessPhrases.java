package io.mortise.architecture;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Finds clauses without a noun at their head: <em>who waits</em> instead of <em>a waiter</em>,
 * <em>what was in doubt</em> instead of <em>requests in doubt</em>. Readers stumble over them.
 *
 * <p>It would rather miss one than complain of good English: indirect questions, relative clauses
 * and {@code whatever the cause} pass.
 */
final class HeadlessPhrases {
  /** As a sentence or its subject. */
  private static final String HEAD =
      "(?:^|(?<=[.!?:;] )|(?<=\\())(?<!e\\.g\\. )(?<!i\\.e\\. )(?:who(?:m|se)?|what)(?:ever)?\\b";

  private static final String BEHIND_PREPOSITION =
      "\\b(?<preposition>about|across|after|against|among|around|as|at|because of|before|behind"
          + "|below|beside|besides|between|beyond|by|despite|during|except|for|from|in|inside|into"
          + "|like|of|on|onto|outside|over|past|per|since|than|through|to|towards?|under|unlike"
          + "|until|upon|with|within|without) (?:who|what)(?:ever)?\\b";

  private static final String BEHIND_CONJUNCTION =
      "(?<conjunction>\\b(?:and|but|nor|or) (?:who|what)|, (?:and |but |nor |or )?what)\\b";

  /** A subordinate clause that stands alone. */
  private static final String ALONE = "(?:^|(?<=[.!?] ))(?-i:Lest|So that|Which|Than)\\b";

  private static final Pattern PHRASE =
      anyCase(String.join("|", HEAD, BEHIND_PREPOSITION, BEHIND_CONJUNCTION, ALONE));

  /** A question, "what to do", "in what order", "whatever the cause", "in whatever state". */
  private static final Pattern FINE_BEHIND =
      anyCase(
          "[^.?!]{0,160}\\?| to \\w+"
              + "| (?:case|kind|form|length|moment|number|order|point|reason|size|sort|state|time"
              + "|way)s?\\b"
              + "|(?<=ever) (?:the|its|their)\\b|(?<=(?:at|in|of) whatever)");

  /** Words whose preposition begins an indirect question. */
  private static final Pattern ASKS_BY_PREPOSITION =
      anyCase(
          "\\b(?:(?:(?:dis)?agree|decide|depend)(?:s|d|nt|ing|ment)?|(?:in)?dependent(?:ly)?"
              + "|regardless|irrespective|matter|question|doubt|sure|unsure) $");

  /** Words that begin an indirect question or a list, which a conjunction may continue. */
  private static final Pattern ASKS =
      anyCase(
          "\\b(?:who|whom|whose|what|which|whether|how|why|told|said|known|seen)\\b"
              + "|\\b(?:ask|check|compare|count|decide|describe|explain|know|learn|list|name|note"
              + "|print|record|remember|report|say|see|show|state|tell|write)(?:s|d|ed|ing|n)?\\b");

  private static final Pattern END_OF_SENTENCE = Pattern.compile("[.!?;:] ");

  private HeadlessPhrases() {}

  /** Returns each with a few words of its surroundings, in order. */
  static List<String> in(String prose) {
    return PHRASE
        .matcher(prose)
        .results()
        .filter(phrase -> isHeadless(prose, phrase))
        .map(phrase -> excerpt(prose, phrase))
        .toList();
  }

  private static boolean isHeadless(String prose, MatchResult phrase) {
    var behind = FINE_BEHIND.matcher(prose).region(phrase.end(), prose.length());
    if (behind.useTransparentBounds(true).lookingAt()) {
      return false;
    }
    String[] sentences = END_OF_SENTENCE.split(prose.substring(0, phrase.start()), -1);
    String before = sentences[sentences.length - 1];
    boolean preposition = phrase.group(1) != null;
    boolean conjunction = phrase.group(2) != null;
    return !(preposition && ASKS_BY_PREPOSITION.matcher(before).find())
        && !(conjunction && ASKS.matcher(before).find());
  }

  private static String excerpt(String prose, MatchResult phrase) {
    int begin = Math.max(0, phrase.start() - 30);
    int end = Math.min(prose.length(), phrase.end() + 40);
    return "…" + prose.substring(begin, end) + "…";
  }

  private static Pattern anyCase(String regex) {
    return Pattern.compile(regex, Pattern.CASE_INSENSITIVE);
  }
}
