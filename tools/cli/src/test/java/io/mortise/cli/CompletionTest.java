package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Completion in real shells, help in groups, and manual pages. */
@DisabledOnOs(OS.WINDOWS)
@Tag("extended")
class CompletionTest extends CommandHarness {
  @TempDir private Path folder;

  /** Creates a fake tool that knows three locks, and records its arguments. */
  @BeforeEach
  void fakeTool() throws IOException {
    Path tool =
        Files.writeString(
            folder.resolve("mortise"),
            "#!/bin/sh\n[ \"$1\" != completion ] || exec '"
                + Path.of(System.getProperty("java.home"), "bin/java")
                + "' -cp '"
                + System.getProperty("java.class.path")
                + "' io.mortise.cli.Main \"$@\"\nprintf '%s\\n' \"$@\" >"
                + folder.resolve("asked")
                + "\nprintf '%s\\n' invoice/42 invoice:43 'my job'\n");
    Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "mortise e               | evict",
        "mortise evi             | evict",
        "mortise show --js       | --json",
        "mortise ls --sort tr    | trouble",
        "mortise run inv         | invoice/42 invoice:43 my\\ job",
        "mortise run invoice:    | invoice/42 43 my\\ job",
        "mortise help gua        | guarantees",
        "mortise hazards l       | list",
        "mortise completion f    | fish",
      })
  void givenBash_whenAskedToComplete_thenItOffersThat(String line, String offered)
      throws Exception {
    String script =
        "source "
            + script("bash")
            + "; compopt() { :; }; COMP_LINE='"
            + line.stripTrailing()
            + "' COMP_POINT=${#COMP_LINE}; COMPREPLY=(); _mortise mortise; echo"
            + " \"${COMPREPLY[*]}\"";
    assertThat(said("bash", "-c", script)).contains(offered.split(" (?=[^\\\\])", -1)[0]);
    if (line.contains("run")) {
      assertThat(said("bash", "-c", script).strip()).isEqualTo(offered);
    }
  }

  @Test
  void givenStoreOnTheLine_whenNamesAreCompleted_thenThatStoreIsAsked() throws Exception {
    said(
        "bash",
        "-c",
        "source "
            + script("bash")
            + "; compopt() { :; }; COMP_LINE='mortise show --store redis://h:1 inv';"
            + " COMP_POINT=${#COMP_LINE}; _mortise mortise");
    assertThat(folder.resolve("asked"))
        .hasContent("ls\n--names\n--limit=200\n--store=redis://h:1\ninv");
  }

  @Test
  void givenFish_whenAskedToComplete_thenItOffersThat() throws Exception {
    assumeTrue(TerminalRun.runs("fish", "--version"), "no fish on the PATH");
    String source = "source " + script("fish") + "; complete -C ";
    assertThat(said("fish", "--no-config", "-c", source + "'mortise evi'")).startsWith("evict");
    assertThat(said("fish", "--no-config", "-c", source + "'mortise show inv'"))
        .contains("invoice/42", "invoice:43");
    assertThat(said("fish", "--no-config", "-c", source + "'mortise ls --sort tr'"))
        .startsWith("trouble");
    assertThat(folder.resolve("asked")).hasContent("ls\n--names\n--limit=200\ninv");
  }

  @Test
  void givenZsh_whenAskedToComplete_thenItOffersThat() throws Exception {
    assumeTrue(TerminalRun.runs("zsh", "--version"), "no zsh on the PATH");
    String asked =
        "autoload -U +X compinit; compdef() { :; }; source "
            + script("zsh")
            + "; ask() { emulate -L sh; COMP_LINE=$1; COMP_POINT=${#1}; COMPREPLY=(); _mortise"
            + " mortise; echo \"${COMPREPLY[@]}\"; }; ";
    assertThat(said("zsh", "-f", "-c", asked + "ask 'mortise evi'")).contains("evict");
    assertThat(said("zsh", "-f", "-c", asked + "ask 'mortise ls --sort tr'")).contains("trouble");
    assertThat(said("zsh", "-f", "-c", asked + "ask 'mortise show --store redis://h:1 inv'"))
        .contains("invoice/42 invoice:43 my job");
    assertThat(folder.resolve("asked"))
        .hasContent("ls\n--names\n--limit=200\n--store=redis://h:1\ninv");
  }

  @Test
  void givenHelp_thenEachCommandAndOptionStandsInAGroup() {
    assertThat(execute("--help")).isZero();
    assertThat(out())
        .containsSubsequence(
            "Run under a lock\n  run ", "Look\n  ls ", "  waits ", "Intervene\n  evict ")
        .doesNotContain("Other\n");
    for (String command : List.of("run", "ls", "show", "waits", "evict", "doctor", "guarantees")) {
      out.reset();
      assertThat(execute(command, "--help")).isZero();
      assertThat(out()).as(command).contains("Output\n").doesNotContain("Other\n");
    }
    assertThat(err()).isEmpty();
  }

  @Test
  void givenManualPages_whenWritten_thenEachCommandHasOneThatIsWellFormed() throws Exception {
    Path pages = folder.resolve("man/man1");
    assertThat(execute("man", "--all-to", pages.toString())).isZero();
    assertThat(pages.resolve("mortise-run.1"))
        .content()
        .startsWith(".TH MORTISE\\-RUN 1 ")
        .contains(".SS How long it is held\n", "\\-\\-ttl=DURATION");
    assertThat(pages.resolve("mortise-ls.1"))
        .content()
        .contains("name, held, waiting, trouble")
        .doesNotContain("For completion");
    assertThat(pages.resolve("mortise.1")).content().contains("\n  waits ");
    execute("man", "run");
    assertThat(out()).isEqualTo(Files.readString(pages.resolve("mortise-run.1")));
    assumeTrue(TerminalRun.runs("groff", "--version"), "no groff on the PATH");
    List<String> words = new ArrayList<>(List.of("groff", "-man", "-Tutf8", "-ww", "-z"));
    try (var files = Files.list(pages)) {
      files.map(Path::toString).forEach(words::add);
    }
    assertThat(said(words.toArray(String[]::new))).as("warnings").isEmpty();
  }

  private Path script(String shell) throws IOException {
    out.reset();
    assertThat(execute("completion", shell)).isZero();
    return Files.writeString(folder.resolve("script"), out());
  }

  private String said(String... words) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
    builder.environment().merge("PATH", folder.toString(), (old, own) -> own + ":" + old);
    builder.environment().put("HOME", folder.toString());
    Process process = builder.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return said;
  }
}
