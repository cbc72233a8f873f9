package io.mortise.testkit;

import io.mortise.LockName;
import java.util.List;
import java.util.stream.Stream;

/**
 * Lock names that stores have confused or choked on. All are valid, and no two are the same lock:
 * names are compared byte by byte.
 */
public final class NameVectors {
  private NameVectors() {}

  /** The names, each once. */
  public static List<LockName> all() {
    return Stream.of(
            "a",
            "A",
            "á",
            "Á",
            "a ",
            " a",
            "a  ",
            " ",
            "  ",
            // Composed and decomposed: they look the same.
            "caf\u00e9",
            "cafe\u0301",
            "stra\u00dfe",
            "strasse",
            "STRASSE",
            "\u0130stanbul",
            "istanbul",
            "\u0131stanbul",
            // Syntax of keys, paths, patterns and statements.
            "{tag}",
            "{tag}a",
            "tag",
            "{}",
            "{",
            "}",
            "a:b",
            "a::b",
            "a/b",
            "a//b",
            "a/./b",
            "/",
            "/a/b",
            "a/b/",
            ".",
            "..",
            "%",
            "%25",
            "%2A",
            "%41",
            "=2A",
            "=41",
            "a%20b",
            "a b",
            "a+b",
            "_",
            "*",
            "?",
            "[a]",
            "'",
            "''",
            "\"",
            "`",
            "'; DROP TABLE x; --",
            "\\",
            "\\\\",
            "\\n",
            "a\\b",
            "a|b",
            "a||b",
            "a#1",
            "a?raw&keys",
            "\"\\<>",
            "a,b",
            "a;b",
            "$1",
            ":name",
            "?1",
            "@a",
            "null",
            "NULL",
            "0",
            "00",
            "0.0",
            "-1",
            "1e3",
            "1000",
            "true",
            "lock",
            "lock\u00a0",
            "\ud83d\udd12",
            "\ud83d\udd13",
            "\ud83d\udc69\u200d\ud83d\udcbb",
            "\ud83d\udc69\ud83d\udcbb",
            "\u202eabc",
            "abc",
            "\u65e5\u672c\u8a9e",
            "\uff21",
            "\uffff",
            "\ue000",
            "\ud800\udc00",
            // The longest, and two that differ in the last byte only.
            "x".repeat(LockName.MAX_BYTES),
            "x".repeat(LockName.MAX_BYTES - 1) + "y",
            "x".repeat(LockName.MAX_BYTES - 1),
            "\u00e9".repeat(LockName.MAX_BYTES / 2),
            "\ud83d\udd12".repeat(LockName.MAX_BYTES / 4),
            "%".repeat(LockName.MAX_BYTES),
            "/".repeat(LockName.MAX_BYTES),
            "{" + "x".repeat(LockName.MAX_BYTES - 2) + "}")
        .map(LockName::of)
        .toList();
  }
}
