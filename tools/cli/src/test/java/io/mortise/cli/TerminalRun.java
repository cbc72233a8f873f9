package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.TestPrerequisites;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A run of the tool at a terminal, which a Python script provides.
 *
 * @param out the output to the terminal
 */
record TerminalRun(int status, String out) {

  /** Skips the test without it; in CI it fails. */
  static void needsPython() {
    TestPrerequisites.required(
        Optional.of("python3").filter(program -> runs(program, "-c", "import pty")),
        "The program python3 with pty");
  }

  /**
   * Runs the tool with these words, and with the script as the last one unless null; executes the
   * orders.
   */
  static TerminalRun of(
      Path folder,
      Class<?> main,
      Map<String, String> variables,
      String words,
      String script,
      String... orders)
      throws Exception {
    Path program = folder.resolve("terminal.py");
    try (InputStream resource = TerminalRun.class.getResourceAsStream("terminal.py")) {
      Files.write(program, Objects.requireNonNull(resource).readAllBytes());
    }
    Path out = folder.resolve("terminal");
    List<String> command = new ArrayList<>(List.of("python3", program.toString(), out.toString()));
    command.addAll(CliProcess.words(main, words.split(" ", -1)));
    if (script != null) {
      command.add(script);
    }
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("TMPDIR", folder.toString());
    builder.environment().put("MORTISE_STORE", "fake:");
    builder.environment().put("TERM", "xterm");
    builder.environment().remove("NO_COLOR");
    builder.environment().putAll(variables);
    Process python = builder.start();
    try (OutputStream in = python.getOutputStream()) {
      in.write((String.join("\n", orders) + "\n").getBytes(UTF_8));
    }
    String trouble = new String(python.getInputStream().readAllBytes(), UTF_8);
    assertThat(python.waitFor(90, TimeUnit.SECONDS)).isTrue();
    String shown = Files.readString(out);
    assertThat(trouble).as(shown).isEmpty();
    return new TerminalRun(python.exitValue(), shown);
  }

  /** Whether a program exists and succeeds. */
  static boolean runs(String... words) {
    try {
      return new ProcessBuilder(words).start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
