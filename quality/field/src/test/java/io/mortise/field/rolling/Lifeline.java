package io.mortise.field.rolling;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Commands that run when this JVM ends, even if it is killed. Thread-safe. */
final class Lifeline {
  private Lifeline() {}

  /** Returns the waiting shell; destroying it cancels the command. */
  static Process attach(String command) {
    try {
      return new ProcessBuilder("sh", "-c", "read _; " + command)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
