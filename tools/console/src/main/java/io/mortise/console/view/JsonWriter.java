package io.mortise.console.view;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Writes maps, lists and values as JSON that is safe for a terminal. */
public final class JsonWriter {
  private static final JSON COMPACT = JSON.std.with(JSON.Feature.WRITE_NULL_PROPERTIES);
  private static final JSON PRETTY = COMPACT.with(JSON.Feature.PRETTY_PRINT_OUTPUT);

  private JsonWriter() {}

  /** Writes several lines, for people. */
  public static String write(Object value) {
    return write(PRETTY, value);
  }

  /** Writes one line. */
  public static String compact(Object value) {
    return write(COMPACT, value);
  }

  private static String write(JSON writer, Object value) {
    try {
      return OutputSanitizer.json(writer.asString(value));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
