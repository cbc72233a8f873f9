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
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Starts the command through {@code lifeline.sh}, which ends it when this process dies: the named
 * pipe between the two is open for as long as this process lives.
 */
final class Lifeline implements Child {
  /** What every shell hands on; many drop variables with other names. */
  private static final Pattern SHELL_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  private static final List<String> ANY_SHELL = List.of("/bin/sh");

  /** Which takes no functions from the environment, and reads no file before the script. */
  private static final List<String> BASH = List.of("bash", "--posix", "-p");

  private static final String PROBE = "mortise.probe";

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
   * @param warn told in a sentence what the command will lack, before it starts
   * @param onExit told the exit status, 128 + n for signal n, on another thread
   */
  static Lifeline start(
      List<String> command,
      Consumer<Map<String, String>> environment,
      @Nullable Duration grace,
      Consumer<String> warn,
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
      List<String> words = new ArrayList<>(shell(builder.environment().keySet(), warn));
      words.add(script.toString());
      words.add(pipe.toString());
      words.add(Long.toString(ProcessHandle.current().pid()));
      words.add(grace == null ? "never" : Long.toString(tenths(grace)));
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

  /**
   * One that hands on the variables with these names. Never through {@code env}: the watcher keeps
   * the words of its command line, where everybody could read the values.
   */
  private static List<String> shell(Set<String> names, Consumer<String> warn) throws IOException {
    List<String> foreign =
        names.stream().filter(name -> !SHELL_NAME.matcher(name).matches()).sorted().toList();
    if (foreign.isEmpty()) {
      return ANY_SHELL;
    }
    for (List<String> shell : List.of(BASH, ANY_SHELL)) {
      if (handsOn(shell)) {
        return shell;
      }
    }
    warn.accept(
        "The command does not see the variables '"
            + String.join("', '", foreign)
            + "': no shell here hands on such names. Install bash, or choose names of letters,"
            + " digits and underscores.");
    return ANY_SHELL;
  }

  /** Tried out, since it depends on the shell's version. */
  private static boolean handsOn(List<String> shell) throws IOException {
    List<String> words = new ArrayList<>(shell);
    words.addAll(List.of("-c", "exec env"));
    ProcessBuilder builder =
        new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().keySet().removeIf(name -> !name.equals("PATH"));
    builder.environment().put(PROBE, "1");
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      return false; // not installed
    }
    process.getOutputStream().close();
    try (InputStream out = process.getInputStream()) {
      return new String(out.readAllBytes(), StandardCharsets.ISO_8859_1)
          .lines()
          .anyMatch((PROBE + "=1")::equals);
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
