package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;

/** Starts {@code mortise run} in a separate process, in a folder of the test. */
abstract class RunCommandHarness {
  static final Duration LONG = Duration.ofSeconds(60);
  static final Redirect NO_INPUT = Redirect.from(new File("/dev/null"));

  @TempDir Path folder;

  final CliProcess run(String name, String script, String... options) throws IOException {
    return tool(
        NO_INPUT,
        Map.of("MORTISE_STORE", "fake:"),
        Stream.of(Stream.of("run"), Stream.of(options), Stream.of(name, "--", "sh", "-c", script))
            .flatMap(words -> words)
            .toArray(String[]::new));
  }

  final CliProcess tool(Redirect in, Map<String, String> variables, String... args)
      throws IOException {
    return CliProcess.start(folder, FakeCliMain.class, variables, in, args);
  }

  static long awaitPid(CliProcess tool) {
    await().atMost(LONG).until(() -> tool.out().endsWith("\n"));
    return Long.parseLong(tool.out().strip());
  }

  /** The watcher of this tool's command, which has its own session. */
  static OptionalLong watcher(long tool) throws IOException {
    Process ps = new ProcessBuilder("ps", "-A", "-ww", "-o", "pid=,sid=,args=").start();
    return new String(ps.getInputStream().readAllBytes(), UTF_8)
        .lines()
        .filter(line -> line.matches(" *(\\d+) +\\1 .*lifeline\\.sh watch \\S+ " + tool + " .*"))
        .mapToLong(line -> Long.parseLong(line.strip().split(" ", 2)[0]))
        .findFirst();
  }

  /**
   * Asserts that no files remain, at once or soon: a process that outlives the tool cleans up after
   * it.
   */
  final void assertNothingLeft() {
    await()
        .atMost(LONG)
        .untilAsserted(
            () -> {
              try (Stream<Path> files = Files.list(folder)) {
                assertThat(files.map(file -> file.getFileName().toString()))
                    .noneMatch(name -> name.startsWith("mortise-"));
              }
            });
  }
}
