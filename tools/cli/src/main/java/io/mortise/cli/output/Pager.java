package io.mortise.cli.output;

import io.mortise.console.view.OutputSanitizer;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Map;

/** Shows long text in the user's pager. */
public final class Pager {
  private static final String DEFAULT =
      "if command -v less >/dev/null 2>&1; then exec less; else exec cat; fi";

  private Pager() {}

  /**
   * Prints the lines, at a terminal that they do not fit on by {@code MORTISE_PAGER}, {@code PAGER}
   * or {@code less}. Blocks until the user has read.
   *
   * @param lines without control characters
   */
  public static void print(PrintStream out, Map<String, String> variables, List<String> lines) {
    if (lines.size() < Terminal.STDOUT.size().rows() || !page(variables, lines)) {
      lines.forEach(out::println);
    }
  }

  private static boolean page(Map<String, String> variables, List<String> lines) {
    String pager = variables.getOrDefault("MORTISE_PAGER", variables.getOrDefault("PAGER", ""));
    ProcessBuilder builder =
        new ProcessBuilder("/bin/sh", "-c", pager.isBlank() ? DEFAULT : "exec " + pager)
            .redirectOutput(ProcessBuilder.Redirect.INHERIT)
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putIfAbsent("LESS", "FRX");
    try {
      Process process = builder.start();
      try (Writer in =
          new OutputStreamWriter(process.getOutputStream(), Charset.defaultCharset())) {
        for (String line : lines) {
          in.write(OutputSanitizer.text(line) + System.lineSeparator());
        }
      } catch (IOException e) {
        // The user has quit the pager.
      }
      return process.waitFor() != 127; // 127: no such pager
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }
}
