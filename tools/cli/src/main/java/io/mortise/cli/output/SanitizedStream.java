package io.mortise.cli.output;

import io.mortise.console.view.OutputSanitizer;
import java.io.PrintStream;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A standard stream that sanitizes printed text: messages, log lines and stack traces may quote
 * text of a server or of another user. Bytes are passed unchanged.
 */
public final class SanitizedStream extends PrintStream {
  private final PrintStream target;
  private final UnaryOperator<String> change;

  private SanitizedStream(PrintStream target, UnaryOperator<String> change) {
    super(target, true);
    this.target = target;
    this.change = change;
  }

  /** Returns a stream without control characters. */
  public static PrintStream out(PrintStream target) {
    return target instanceof SanitizedStream
        ? target
        : new SanitizedStream(target, OutputSanitizer::lines);
  }

  /** Returns a stream without control characters and passwords. */
  public static PrintStream err(PrintStream target) {
    return target instanceof SanitizedStream
        ? target
        : new SanitizedStream(target, text -> OutputSanitizer.lines(OutputSanitizer.hide(text)));
  }

  @Override
  public void print(@Nullable String text) {
    target.print(change.apply(String.valueOf(text)));
  }

  @Override
  public void print(@Nullable Object value) {
    print(String.valueOf(value));
  }

  @Override
  public void print(char[] text) {
    print(String.valueOf(text));
  }

  @Override
  public void print(char character) {
    print(String.valueOf(character));
  }
}
