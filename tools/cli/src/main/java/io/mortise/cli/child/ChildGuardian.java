package io.mortise.cli.child;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Starts the command through {@code lifeline.sh}, whose watcher ends it when this process dies. Two
 * named pipes connect them: the one for orders is open while this process lives, the one for
 * reports while the watcher does. Their names are removed once both are open, so that a cleanup of
 * temporary files does no harm.
 */
public final class ChildGuardian implements ChildProcess {
  /** Names of variables that every shell passes on; many drop others. */
  private static final Pattern SHELL_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  private static final List<String> ANY_SHELL = List.of("/bin/sh");

  /** A bash that imports no functions from the environment, and reads no startup file. */
  private static final List<String> BASH = List.of("bash", "--posix", "-p");

  private static final String PROBE = "mortise.probe";

  private final FileChannel orders;
  private final Process process;
  private volatile GuardianState guardianState = GuardianState.WATCHES;

  private enum GuardianState {
    WATCHES,
    /** It has ended its processes as ordered. */
    DONE,
    /** It has ended without a report: it was killed. */
    KILLED
  }

  private ChildGuardian(FileChannel orders, Process process) {
    this.orders = orders;
    this.process = process;
  }

  /**
   * Starts the command. Blocks until its watcher runs.
   *
   * @param command the program and its arguments
   * @param environment changes the environment that the command inherits
   * @param grace the time between SIGTERM and SIGKILL of the command if this process dies; null to
   *     let it live on
   * @param valid the time that it may run unless extended, read when it starts; see {@link
   *     #endUnlessToldWithin}
   * @param warn receives a sentence about features that the command lacks: before it starts, or on
   *     another thread
   * @param onExit receives the exit status, 128 + n for signal n, on another thread
   */
  public static ChildGuardian start(
      List<String> command,
      Consumer<Map<String, String>> environment,
      @Nullable Duration grace,
      Supplier<Duration> valid,
      Consumer<String> warn,
      IntConsumer onExit)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder().inheritIO();
    environment.accept(builder.environment());
    Path folder = makeFolder(); // the watcher removes it
    try {
      Path script = folder.resolve("lifeline.sh");
      try (InputStream resource = ChildGuardian.class.getResourceAsStream("lifeline.sh")) {
        Files.write(script, Objects.requireNonNull(resource).readAllBytes());
      }
      List<String> words = new ArrayList<>(shell(builder.environment().keySet(), warn));
      words.add(script.toString());
      words.add("start");
      words.add(folder.toString());
      words.add(Long.toString(ProcessHandle.current().pid()));
      words.add(grace == null ? "never" : Long.toString(tenths(grace)));
      words.addAll(command);
      return start(builder.command(words), folder, valid, warn, onExit);
    } catch (IOException | RuntimeException e) {
      remove(folder, e);
      throw e;
    }
  }

  private static ChildGuardian start(
      ProcessBuilder builder,
      Path folder,
      Supplier<Duration> valid,
      Consumer<String> warn,
      IntConsumer onExit)
      throws IOException {
    Path ordersPipe = folder.resolve("orders");
    Path reportsPipe = folder.resolve("reports");
    makePipes(ordersPipe, reportsPipe);
    // For reading and writing, although each is used one way: opening for one alone would wait for
    // the other end.
    FileChannel orders = FileChannel.open(ordersPipe, READ, WRITE);
    FileChannel reports = FileChannel.open(reportsPipe, READ, WRITE);
    BufferedReader reader = Files.newBufferedReader(reportsPipe, StandardCharsets.US_ASCII);
    try {
      Process process = builder.start();
      ChildGuardian childGuardian = new ChildGuardian(orders, process);
      // If the shell ends before there is a watcher, this ends the reports.
      var closing = process.onExit().thenRun(() -> close(reports));
      String report = reader.readLine();
      close(reports);
      if (!"READY".equals(report)) {
        closing.join();
        throw new IOException(
            "the shell that starts it ended with status " + process.exitValue() + ".");
      }
      childGuardian.endUnlessToldWithin(valid.get()); // now it starts
      var unused = process.onExit().thenAccept(ended -> onExit.accept(ended.exitValue()));
      Thread listener =
          new Thread(() -> childGuardian.listen(reader, warn), "mortise-watcher-reports");
      listener.setDaemon(true);
      listener.start();
      return childGuardian;
    } catch (IOException | RuntimeException e) {
      close(orders);
      close(reports);
      close(reader);
      throw e;
    }
  }

  /** Reads reports until the watcher has ended. */
  private void listen(BufferedReader reports, Consumer<String> warn) {
    try (reports) {
      for (String line = reports.readLine(); line != null; line = reports.readLine()) {
        if (line.equals("DONE")) {
          guardianState = GuardianState.DONE;
        }
      }
    } catch (IOException e) {
      // As if it had ended, since no more reports will arrive.
    }
    if (guardianState == GuardianState.WATCHES) {
      guardianState = GuardianState.KILLED;
      if (process.isAlive()) {
        warn.accept(
            "The shell that watches over the command was killed. Should mortise be killed too, the"
                + " command would work on without the lock.");
      }
    }
  }

  @Override
  public void signal(String name) {
    if (guardianState == GuardianState.KILLED && !name.equals("CONT")) {
      terminate();
    }
    tell(name);
  }

  @Override
  public void suspend() {
    tell("SUSPEND");
  }

  @Override
  public void endUnlessToldWithin(Duration time) {
    tell("VALID " + tenths(time));
  }

  @Override
  public void end(Duration within) {
    if (guardianState == GuardianState.KILLED) {
      terminate();
    }
    tell("LOST " + tenths(within));
  }

  @Override
  public boolean isGone() {
    return !process.isAlive() && guardianState == GuardianState.DONE;
  }

  @Override
  public void ended() {
    tell("END");
  }

  /** Kills without the help of the script, which may have been killed. */
  @Override
  public void force() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  /** Sends SIGTERM without the help of the script. */
  private void terminate() {
    process.descendants().forEach(ProcessHandle::destroy);
    process.destroy();
  }

  private void tell(String word) {
    try {
      order(orders, word);
    } catch (IOException e) {
      throw new UncheckedIOException("The pipe to the command's watcher is broken.", e);
    }
  }

  private static void order(FileChannel orders, String word) throws IOException {
    orders.write(ByteBuffer.wrap((word + "\n").getBytes(StandardCharsets.US_ASCII)));
  }

  private static void close(Closeable pipe) {
    try {
      pipe.close();
    } catch (IOException e) {
      // No more orders are written to it.
    }
  }

  private static long tenths(Duration time) {
    return Math.max(0, time.toMillis() / 100);
  }

  /**
   * Returns a shell that passes on the variables with these names. Never through {@code env}: the
   * watcher keeps its command line, where all users could read the values.
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

  /** Tests the shell, as this depends on its version. */
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

  /**
   * Checks that commands can be started, before a wait that would be useless otherwise.
   *
   * @throws IOException if the temporary folder cannot be written
   */
  public static void checkTemporaryFolder() throws IOException {
    Files.delete(makeFolder());
  }

  /** Creates a folder for this user only. */
  private static Path makeFolder() throws IOException {
    String temporary = System.getenv().getOrDefault("TMPDIR", "");
    Path parent = Path.of(temporary.isEmpty() ? System.getProperty("java.io.tmpdir") : temporary);
    try {
      return Files.createTempDirectory(parent, "mortise-");
    } catch (IOException e) {
      throw new IOException(
          "cannot write to the temporary folder '" + parent + "'. Name another in TMPDIR.", e);
    }
  }

  private static void makePipes(Path first, Path second) throws IOException {
    Process mkfifo =
        new ProcessBuilder("mkfifo", "-m", "600", first.toString(), second.toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      if (mkfifo.waitFor() != 0) {
        throw new IOException(
            "cannot make the named pipe '" + first + "'. Name another folder in TMPDIR.");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("Interrupted while making named pipes.", e);
    }
  }

  private static void remove(Path folder, Exception trouble) {
    try {
      for (String file : List.of("orders", "reports", "lifeline.sh")) {
        Files.deleteIfExists(folder.resolve(file));
      }
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      trouble.addSuppressed(e);
    }
  }
}
