package io.mortise.guarantee;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A section of an INI file: the words between the brackets, and the values of each key in order. A
 * line that begins with a blank continues the value before it; {@code #} begins a comment line.
 */
record IniSection(List<String> header, Map<String, List<String>> values) {

  static List<IniSection> read(List<String> lines) {
    List<IniSection> sections = new ArrayList<>();
    String key = "";
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).stripTrailing();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      if (line.startsWith("[") && line.endsWith("]")) {
        String words = line.substring(1, line.length() - 1).strip();
        sections.add(new IniSection(List.of(words.split("\\s+", -1)), new LinkedHashMap<>()));
        key = "";
        continue;
      }
      boolean goesOn = Character.isWhitespace(line.charAt(0));
      int equals = line.indexOf('=');
      if (sections.isEmpty() || (goesOn ? key.isEmpty() : equals <= 0)) {
        throw wrong(i, line);
      }
      Map<String, List<String>> values = sections.get(sections.size() - 1).values();
      if (goesOn) {
        List<String> sofar = values.getOrDefault(key, List.of());
        int last = sofar.size() - 1;
        sofar.set(last, (sofar.get(last) + " " + line.strip()).strip());
      } else {
        key = line.substring(0, equals).strip();
        values
            .computeIfAbsent(key, unused -> new ArrayList<>())
            .add(line.substring(equals + 1).strip());
      }
    }
    return sections;
  }

  private static IllegalStateException wrong(int index, String line) {
    return new IllegalStateException(
        "Line " + (index + 1) + " is neither [section], key = value nor its continuation: " + line);
  }

  String kind() {
    return header.get(0);
  }

  boolean has(String key) {
    return values.containsKey(key);
  }

  /** The one value of a key. */
  String one(String key) {
    List<String> found = all(key);
    if (found.size() != 1) {
      throw new IllegalStateException(
          "Section " + header + " has " + found.size() + " values of '" + key + "', not one.");
    }
    return found.get(0);
  }

  List<String> all(String key) {
    return values.getOrDefault(key, List.of());
  }
}
