package io.mortise.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Starts the command through {@code lifeline.sh}, which ends it when this process dies: the named
 * pipe between the two is open for as long as this process lives.
 */
final class Lifeline implements Child {
  /** What a shell hands on; it drops variables with other names. */
  private static final Pattern SHELL_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  private final Path pipe;
  private final FileChannel life;
  private final Process process;

  private Lifeline(Path pipe, FileChannel life, Process process) {
    this.pipe = pipe;
    this.life = life;
    this.process = process;
  }

  /**
   * Starts the command.
   *
   * @param command the program and its arguments
   * @param environment changes what the command inherits of the environment
   * @param grace how long the command has between SIGTERM and SIGKILL if this process dies; null if
   *     it shall live on
   * @param onExit told the exit status, 128 + n for signal n, on another thread
   */
  static Lifeline start(
      List<String> command,
      Consumer<Map<String, String>> environment,
      @Nullable Duration grace,
      IntConsumer onExit)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder().inheritIO();
    environment.accept(builder.environment());
    String temporary = builder.environment().getOrDefault("TMPDIR", "");
    Path parent = Path.of(temporary.isEmpty() ? System.getProperty("java.io.tmpdir") : temporary);
    Path folder = makeFolder(parent);
    try {
      Path script = folder.resolve("lifeline.sh");
      try (InputStream resource = Lifeline.class.getResourceAsStream("lifeline.sh")) {
        Files.write(script, Objects.requireNonNull(resource).readAllBytes());
      }
      Path pipe = folder.resolve("life");
      makePipe(pipe);
      // For both ways, although it is only written to: opening the write end alone waits for a
      // reader.
      FileChannel life = FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE);
      List<String> words = new ArrayList<>();
      words.add("/bin/sh");
      words.add(script.toString());
      words.add(pipe.toString());
      words.add(Long.toString(ProcessHandle.current().pid()));
      words.add(grace == null ? "never" : Long.toString(tenths(grace)));
      addForeignVariables(words, builder.environment());
      words.addAll(command);
      Lifeline lifeline = new Lifeline(pipe, life, builder.command(words).start());
      var unused = lifeline.process.onExit().thenAccept(ended -> onExit.accept(ended.exitValue()));
      return lifeline;
    } catch (IOException | RuntimeException e) {
      remove(folder);
      throw e;
    }
  }

  @Override
  public void signal(String name) {
    tell(name);
  }

  @Override
  public void suspend() {
    tell("SUSPEND");
  }

  @Override
  public void end(Duration within) {
    tell("LOST " + tenths(within));
  }

  @Override
  public boolean isGone() {
    return !process.isAlive() && Files.notExists(pipe);
  }

  @Override
  public void ended() {
    tell("END");
  }

  /** Without the help of the script, should that have been killed. */
  @Override
  public void force() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  private void tell(String word) {
    try {
      life.write(ByteBuffer.wrap((word + "\n").getBytes(StandardCharsets.US_ASCII)));
    } catch (IOException e) {
      throw new UncheckedIOException("The pipe to the command's watcher is broken.", e);
    }
  }

  private static long tenths(Duration time) {
    return Math.max(0, time.toMillis() / 100);
  }

  /** The command's way to variables that the shell in between would drop. */
  private static void addForeignVariables(List<String> words, Map<String, String> variables) {
    List<String> foreign = new ArrayList<>();
    variables.forEach(
        (name, value) -> {
          if (!SHELL_NAME.matcher(name).matches()) {
            foreign.add(name + "=" + value);
          }
        });
    if (!foreign.isEmpty()) {
      words.add("env");
      words.addAll(foreign);
    }
  }

  /** A folder for this user only. */
  private static Path makeFolder(Path parent) throws IOException {
    try {
      return Files.createTempDirectory(parent, "mortise-");
    } catch (IOException e) {
      throw new IOException(
          "cannot write to the temporary folder '" + parent + "'. Name another in TMPDIR.", e);
    }
  }

  private static void makePipe(Path pipe) throws IOException {
    Process mkfifo =
        new ProcessBuilder("mkfifo", "-m", "600", pipe.toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      if (mkfifo.waitFor() != 0) {
        throw new IOException(
            "cannot make the named pipe '" + pipe + "'. Name another folder in TMPDIR.");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("Interrupted while making a named pipe.", e);
    }
  }

  private static void remove(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve("life"));
    Files.deleteIfExists(folder.resolve("lifeline.sh"));
    Files.deleteIfExists(folder);
  }
}
