package io.mortise.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A file system in a mounted file that can lose all writes not forced to the disk, as a power
 * failure does, but {@code kill -9} does not. Needs root on Linux. Removed by {@link #close()},
 * which has to come after that of its server. For one thread.
 */
public final class LossyDisk implements AutoCloseable {
  private static final String SIZE = "768M";
  private static final int TRIES = 50;

  private final Path folder;

  /** Unmounts when its input ends, which is with this JVM in any case. */
  private final Process lifeline;

  private LossyDisk(Path folder) throws IOException {
    this.folder = folder;
    this.lifeline =
        new ProcessBuilder("sh", "-c", "read _; umount -l " + folder + "/disk; rm -rf " + folder)
            .start();
  }

  /** A disk; empty if this machine does not let us mount one. */
  public static Optional<LossyDisk> mount() {
    boolean possible =
        System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux")
            && ServerProcess.isRoot()
            && List.of("mkfs.ext4", "mount", "umount", "truncate", "cp").stream()
                .allMatch(LossyDisk::isThere);
    if (!possible) {
      return Optional.empty();
    }
    LossyDisk disk;
    try {
      disk =
          new LossyDisk(
              Files.setPosixFilePermissions(
                  Files.createTempDirectory("mortise-disk"),
                  PosixFilePermissions.fromString("rwxr-xr-x")));
      Files.createDirectory(disk.data());
      disk.run("truncate", "-s", SIZE, disk.image().toString());
      disk.run("mkfs.ext4", "-q", disk.image().toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    try {
      disk.mountImage();
      Files.setPosixFilePermissions(disk.data(), PosixFilePermissions.fromString("rwxrwxrwx"));
      return Optional.of(disk);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (IllegalStateException e) {
      // A container whose root cannot mount.
      disk.lifeline.destroyForcibly();
      ServerProcess.deleteTree(disk.folder);
      return Optional.empty();
    }
  }

  private static boolean isThere(String program) {
    return ServerProcess.find(program).isPresent();
  }

  private Path image() {
    return folder.resolve("image");
  }

  private Path data() {
    return folder.resolve("disk");
  }

  private void run(String program, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(program));
    command.addAll(List.of(arguments));
    ServerProcess.run(folder, command);
  }

  private void mountImage() throws IOException {
    run("mount", "-o", "loop", image().toString(), data().toString());
  }

  /** The folder for a server's data, writable by everybody. */
  public Path folder() {
    return data();
  }

  /** A new folder on it, for a server of that name. */
  public Path folder(String name) throws IOException {
    return Files.createDirectory(data().resolve(name));
  }

  /** Removes all files. */
  public void empty() {
    try (Stream<Path> files = Files.list(data())) {
      files.filter(file -> !file.endsWith("lost+found")).forEach(ServerProcess::deleteTree);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Forces all files to the disk, as after the setup of a server. */
  public void settle() {
    try {
      run("sync", "-f", data().toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Cuts the power of a server that has its data here, and restarts it on the contents of the disk
   * at that moment.
   *
   * @param down runs when the server has stopped answering
   */
  public void cutPower(LocalServer server, Runnable down) {
    cutPower(
        () -> {
          server.pause();
          down.run();
        },
        server::kill);
    server.restart();
  }

  /**
   * Cuts the power of a process that has its data here, and restores the contents of the disk at
   * that moment.
   *
   * @param pause stops it from running
   * @param kill ends it
   */
  public void cutPower(Runnable pause, Runnable kill) {
    try {
      // Unforced writes are in the page cache, not in the image, so the copy does not contain them.
      pause.run();
      Path copy = folder.resolve("copy");
      run("cp", "--sparse=always", image().toString(), copy.toString());
      kill.run();
      unmount();
      Files.move(copy, image(), StandardCopyOption.REPLACE_EXISTING);
      mountImage();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Processes that use it may take a moment to end. */
  private void unmount() throws IOException {
    for (int tries = 1; ; tries++) {
      try {
        run("umount", data().toString());
        return;
      } catch (IllegalStateException e) {
        if (tries == TRIES) {
          throw e;
        }
        try {
          Thread.sleep(100);
        } catch (InterruptedException interrupted) {
          Thread.currentThread().interrupt();
          throw e;
        }
      }
    }
  }

  @Override
  public void close() {
    lifeline.destroyForcibly();
    try {
      unmount();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      ServerProcess.deleteTree(folder);
    }
  }
}
