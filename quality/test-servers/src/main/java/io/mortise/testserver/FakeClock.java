package io.mortise.testserver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A wall clock for a process of its own, which a test can set forward and back while it runs
 * (libfaketime, Debian: {@code faketime}). Thread-safe.
 */
public final class FakeClock implements AutoCloseable {
  private static final List<Path> PLACES =
      List.of(
          Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"),
          Path.of("/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1"),
          Path.of("/usr/lib64/faketime/libfaketime.so.1"));

  private static final Path SHARED = Path.of("/dev/shm");
  private static final Pattern OF_PROCESS =
      Pattern.compile("(?:faketime_shm|sem\\.faketime_sem)_([0-9]{1,18})");

  private static final Duration ALWAYS = Duration.ZERO;

  private final Path library;
  private final Path folder;
  private final Duration delay;

  private FakeClock(Path library, Duration delay) {
    this.library = library;
    this.delay = delay;
    try {
      this.folder = PostgresServer.folder("mortise-clock");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    set(Duration.ZERO);
  }

  /** A clock that shows the right time; empty if the library is not installed. */
  public static Optional<FakeClock> installed() {
    return late(ALWAYS);
  }

  /**
   * The same, and what it is set to is seen a little later. The library reads a file whenever a
   * program asks for the time; with this, only if that was not done for so long. It costs a server
   * less, and one that asks in a signal's handler, as PostgreSQL does, hardly ever does so while it
   * is reading that file, which it would not survive.
   *
   * @param delay in whole seconds
   */
  public static Optional<FakeClock> late(Duration delay) {
    return PLACES.stream()
        .filter(Files::isReadable)
        .findFirst()
        .map(library -> new FakeClock(library, delay));
  }

  /** How long it takes at most until what is set is seen by a program that asks. */
  public Duration delay() {
    return delay;
  }

  /** Whether a program can run with it: some that bring their own memory allocator cannot. */
  public boolean suits(Path program) {
    List<String> command = new ArrayList<>(prefix());
    command.addAll(List.of(program.toString(), "--version"));
    try {
      Process asked =
          new ProcessBuilder(command)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      boolean ended = asked.waitFor(5, TimeUnit.SECONDS);
      asked.destroyForcibly();
      return ended && asked.exitValue() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Shows the right time plus this, after {@link #delay()}. */
  public void set(Duration offset) {
    double seconds = offset.toMillis() / 1000.0;
    try {
      Path next = folder.resolve("next");
      Files.writeString(next, (seconds < 0 ? "" : "+") + seconds + "s\n");
      Files.move(next, file(), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path file() {
    return folder.resolve("time");
  }

  /** What stands before a command whose program shall see this clock. */
  public List<String> prefix() {
    return List.of(
        "env",
        "LD_PRELOAD=" + library,
        "FAKETIME_TIMESTAMP_FILE=" + file(),
        delay.equals(ALWAYS)
            ? "FAKETIME_NO_CACHE=1"
            : "FAKETIME_CACHE_DURATION=" + delay.toSeconds(),
        // Only what the clock shows: how long something takes stays as it is.
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
        // Or waits on a condition, whose end is told by that other clock, end at once.
        "FAKETIME_FORCE_MONOTONIC_FIX=0");
  }

  /** The same program, as one that sees this clock; there until {@link #close()}. */
  public Path over(Path program) {
    Path made = folder.resolve(program.getFileName());
    try {
      String command = String.join(" ", prefix()) + " " + program;
      Files.writeString(made, "#!/bin/sh\nexec " + command + " \"$@\"\n");
      Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwxr-xr-x"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return made;
  }

  @Override
  public void close() {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
      Files.delete(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    sweep();
  }

  /** The library leaves a semaphore and a page in shared memory of each process that is killed. */
  private static void sweep() {
    if (!Files.isDirectory(SHARED)) {
      return;
    }
    try (Stream<Path> files = Files.list(SHARED)) {
      for (Path file : files.toList()) {
        Matcher name = OF_PROCESS.matcher(file.getFileName().toString());
        if (name.matches() && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty()) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
