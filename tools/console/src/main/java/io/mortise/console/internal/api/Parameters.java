package io.mortise.console.internal.api;

import io.mortise.console.internal.http.ConsoleRequest;
import io.mortise.console.internal.http.RefusedException;
import java.util.List;
import java.util.Map;

/** The parameters of a query, with their limits. */
final class Parameters {
  private final Map<String, List<String>> values;

  Parameters(ConsoleRequest request) {
    this.values = request.parameters();
  }

  /** The parameter's value; empty if absent. */
  String text(String name) {
    List<String> all = values.getOrDefault(name, List.of());
    return all.isEmpty() ? "" : all.get(0);
  }

  List<String> all(String name) {
    return values.getOrDefault(name, List.of());
  }

  boolean flag(String name) {
    return text(name).equals("true");
  }

  /** Returns a whole number within limits. */
  long number(String name, long otherwise, long least, long most) {
    String text = text(name);
    if (text.isEmpty()) {
      return otherwise;
    }
    if (text.matches("\\d{1,18}")) {
      long number = Long.parseLong(text);
      if (number >= least && number <= most) {
        return number;
      }
    }
    throw RefusedException.badRequest(
        "Parameter " + name + " has to be a number from " + least + " to " + most + ".");
  }
}
