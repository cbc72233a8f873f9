package io.mortise.verification.mutant;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Changes to scripts: comparisons inverted, statements and conditions deleted, numbers raised, keys
 * and parameters swapped. Comments and literals stay unchanged.
 */
public enum MutationOperators {
  /** Lua scripts for Redis. */
  LUA(luaOperators()) {
    @Override
    boolean isStatement(String code, String before) {
      return code.matches(
              "(?!(local|return|if|for|while|else|elseif|end|function|repeat|until)\\b)"
                  + "[\\w.\\[\\]: ,+*-]+?( = .*[^,({]|\\(.*\\))")
          && isBalanced(code)
          && !before.matches(".*([,({=+*]|\\.\\.|\\band|\\bor)");
    }
  },
  /** SQL statements. */
  SQL(sqlOperators()) {
    @Override
    boolean isStatement(String code, String before) {
      // One of several assignments to columns.
      return code.matches("(SET )?\\w+ += .*,") && isBalanced(code);
    }
  };

  private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z_]+)");

  @SuppressWarnings("ImmutableEnumChecker") // never modified after construction
  private final Map<String, Operator> operators;

  MutationOperators(Map<String, Operator> operators) {
    this.operators = operators;
  }

  private record Operator(Pattern where, Function<MatchResult, String> what) {}

  private static Map<String, Operator> common() {
    Map<String, String> turned =
        Map.of(
            "<", "<=", "<=", "<", ">", ">=", ">=", ">", "==", "~=", "~=", "==", "=", "<>", "<>",
            "=");
    Map<String, Operator> common = new LinkedHashMap<>();
    common.put(
        "comparison",
        new Operator(
            Pattern.compile("(?<![<>=~|-])(<=|>=|==|~=|<>|<|>)(?![=>])"),
            found -> turned.getOrDefault(found.group(), found.group())));
    common.put(
        "number",
        new Operator(
            Pattern.compile("(?<![\\w.%:])\\d{1,18}(?![\\w.])"),
            found -> Long.toString(Long.parseLong(found.group()) + 1)));
    common.put(
        "sum",
        new Operator(
            Pattern.compile("(?<= )[+-](?= )"), found -> found.group().equals("+") ? "-" : "+"));
    return common;
  }

  private static Map<String, Operator> luaOperators() {
    Map<String, Operator> lua = common();
    lua.put(
        "logic",
        new Operator(
            Pattern.compile("\\b(and|or)\\b"),
            found -> found.group().equals("and") ? "or" : "and"));
    lua.put("not", new Operator(Pattern.compile("\\bnot "), found -> ""));
    lua.put(
        "truth",
        new Operator(
            Pattern.compile("\\b(true|false)\\b"),
            found -> found.group().equals("true") ? "false" : "true"));
    lua.put(
        "key",
        new Operator(
            Pattern.compile("(KEYS|ARGV)\\[(\\d)]"),
            found -> found.group(1) + "[" + (found.group(2).equals("1") ? "2" : "1") + "]"));
    return lua;
  }

  private static Map<String, Operator> sqlOperators() {
    Map<String, Operator> sql = common();
    sql.put("equality", new Operator(Pattern.compile("(?<![<>=!:])=(?![=>])"), found -> "<>"));
    sql.put(
        "logic",
        new Operator(
            Pattern.compile("\\b(AND|OR)\\b"),
            found -> found.group().equals("AND") ? "OR" : "AND"));
    sql.put(
        "extreme",
        new Operator(
            Pattern.compile("(?i)\\b(greatest|least|max|min)\\("),
            found ->
                switch (found.group(1).toLowerCase(Locale.ROOT)) {
                  case "greatest" -> "least(";
                  case "least" -> "greatest(";
                  case "max" -> "min(";
                  default -> "max(";
                }));
    sql.put(
        "order",
        new Operator(Pattern.compile("ORDER BY [\\w.]+"), found -> found.group() + " DESC"));
    sql.put(
        "condition",
        new Operator(Pattern.compile("AND [^()]+?(?= AND | OR |\\)|;|$)"), found -> ""));
    return sql;
  }

  abstract boolean isStatement(String code, String before);

  /** All changes to a script, each once, from its first line to its last. */
  public List<ScriptMutant> mutants(String resource, String script) {
    List<String> lines = script.lines().toList();
    List<ScriptMutant> mutants = new ArrayList<>();
    String before = "";
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      String code = code(line);
      if (code.isBlank()) {
        continue;
      }
      List<String[]> changes = new ArrayList<>();
      operators.forEach(
          (name, operator) -> {
            Matcher found = operator.where().matcher(code);
            while (found.find()) {
              String put = operator.what().apply(found.toMatchResult());
              changes.add(
                  new String[] {
                    name, line.substring(0, found.start()) + put + line.substring(found.end())
                  });
            }
          });
      parameters(script, line, code, changes);
      if (isStatement(code.strip(), before.strip())) {
        changes.add(new String[] {"deletion", ""});
      }
      Set<String> different = new HashSet<>();
      for (String[] change : changes) {
        if (!different.add(change[1])) {
          continue;
        }
        List<String> changed = new ArrayList<>(lines);
        changed.set(i, change[1]);
        mutants.add(
            new ScriptMutant(
                resource,
                mutants.size(),
                i + 1,
                change[0],
                line.strip(),
                change[1].strip(),
                String.join("\n", changed) + "\n"));
      }
      before = code;
    }
    return mutants;
  }

  /** In SQL: replaces each parameter by the next one of the statement. */
  private void parameters(String script, String line, String code, List<String[]> changes) {
    if (this != SQL) {
      return;
    }
    List<String> all =
        PARAMETER
            .matcher(script.replaceAll("(?m)^\\s*--.*$", ""))
            .results()
            .map(found -> found.group(1))
            .distinct()
            .toList();
    Matcher found = PARAMETER.matcher(code);
    while (all.size() > 1 && found.find()) {
      String next = all.get((all.indexOf(found.group(1)) + 1) % all.size());
      changes.add(
          new String[] {
            "parameter", line.substring(0, found.start(1)) + next + line.substring(found.end(1))
          });
    }
  }

  /** The line with comments and literals blanked, so that offsets stay the same. */
  private static String code(String line) {
    char[] code = line.toCharArray();
    boolean text = false;
    for (int i = 0; i < code.length; i++) {
      if (!text && code[i] == '-' && i + 1 < code.length && code[i + 1] == '-') {
        for (; i < code.length; i++) {
          code[i] = ' ';
        }
      } else if (code[i] == '\'') {
        text = !text;
      } else if (text) {
        code[i] = ' ';
      }
    }
    return new String(code);
  }

  private static boolean isBalanced(String code) {
    int depth = 0;
    for (int i = 0; i < code.length(); i++) {
      char c = code.charAt(i);
      depth += "({[".indexOf(c) >= 0 ? 1 : ")}]".indexOf(c) >= 0 ? -1 : 0;
      if (depth < 0) {
        return false;
      }
    }
    return depth == 0;
  }
}
