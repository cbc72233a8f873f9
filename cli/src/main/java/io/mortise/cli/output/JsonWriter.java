package io.mortise.cli.output;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Writes maps, lists and values as JSON that a terminal may show. */
public final class JsonWriter {
  private static final JSON WRITER =
      JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).with(JSON.Feature.WRITE_NULL_PROPERTIES);

  private JsonWriter() {}

  public static String write(Object value) {
    try {
      return OutputSanitizer.json(WRITER.asString(value));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
