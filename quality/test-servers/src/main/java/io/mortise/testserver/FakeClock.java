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
 * A wall clock for another process, which a test can set forward and back while it runs
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
   * As above, but changes take effect with a delay. By default the library reads a file at each
   * call of the clock; with a delay, only if the last read is older. That costs a server less. It
   * also protects PostgreSQL, which reads the clock in signal handlers and would not survive that
   * during a read of the file.
   *
   * @param delay in whole seconds
   */
  public static Optional<FakeClock> late(Duration delay) {
    return PLACES.stream()
        .filter(Files::isReadable)
        .findFirst()
        .map(library -> new FakeClock(library, delay));
  }

  /** The longest time until a program sees a change. */
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

  /** The command prefix that makes a program see this clock. */
  public List<String> prefix() {
    return List.of(
        "env",
        "LD_PRELOAD=" + library,
        "FAKETIME_TIMESTAMP_FILE=" + file(),
        delay.equals(ALWAYS)
            ? "FAKETIME_NO_CACHE=1"
            : "FAKETIME_CACHE_DURATION=" + delay.toSeconds(),
        // Fake the wall clock only: durations stay real.
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
        // Otherwise timed waits on a condition, whose deadline is on the monotonic clock, end at
        // once.
        "FAKETIME_FORCE_MONOTONIC_FIX=0");
  }

  /** Returns a wrapper of the program that sees this clock; deleted by {@link #close()}. */
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
