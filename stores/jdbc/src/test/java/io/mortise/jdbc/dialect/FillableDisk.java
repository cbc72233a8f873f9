package io.mortise.jdbc.dialect;

import io.mortise.jdbc.PowerLossDisks;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A disk in memory of a few megabytes, which can be filled; for root on Linux. */
final class FillableDisk implements AutoCloseable {
  private final Path folder;

  /** Unmounts also if this JVM is killed. */
  private final Process lifeline;

  private FillableDisk(Path folder) throws IOException {
    this.folder = folder;
    this.lifeline =
        new ProcessBuilder("sh", "-c", "read _; umount -l '" + folder + "'; rmdir '" + folder + "'")
            .start();
  }

  /** Empty if this machine does not let us mount one. */
  static Optional<FillableDisk> mount(int megabytes) {
    if (!PowerLossDisks.mayMount()) {
      return Optional.empty();
    }
    try {
      Path folder = Files.createTempDirectory("mortise-small");
      if (!runs("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "mortise", "" + folder)) {
        Files.delete(folder);
        return Optional.empty();
      }
      return Optional.of(new FillableDisk(folder));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean runs(String... command) throws IOException {
    Process running = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      running.getInputStream().readAllBytes();
      return running.waitFor(20, TimeUnit.SECONDS) && running.exitValue() == 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  Path folder() {
    return folder;
  }

  /** Leaves not a byte. */
  void fill() {
    byte[] page = new byte[4096];
    try (OutputStream out = Files.newOutputStream(filler())) {
      while (true) {
        out.write(page);
      }
    } catch (IOException e) {
      // That was the last.
    }
  }

  /** Takes back what {@link #fill} has done. */
  void clear() throws IOException {
    Files.delete(filler());
  }

  private Path filler() {
    return folder.resolve("filler");
  }

  @Override
  public void close() {
    try {
      lifeline.getOutputStream().close();
      lifeline.waitFor(20, TimeUnit.SECONDS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
