package io.mortise.jdbc.dialect;

import io.mortise.StoreUnfitException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where a lock file may lie: on a local disk, writable, and by one name only. */
final class SqliteLocation {
  private static final Logger log = LoggerFactory.getLogger(SqliteFile.class);

  /** Why a file must not have a second name, and what to do. */
  static final String ONE_NAME =
      "Processes that open it by different names do not see each other's locks. Use one name for "
          + "all; into a container, mount the folder and not the file.";

  private static final Set<String> NETWORK =
      Set.of(
          "9p",
          "afs",
          "beegfs",
          "ceph",
          "cifs",
          "davfs",
          "gcsfuse",
          "glusterfs",
          "gpfs",
          "lustre",
          "ncpfs",
          "rclone",
          "s3fs",
          "sshfs",
          "virtiofs");

  private SqliteLocation() {}

  /** Makes the file if it is missing, and checks where it lies. Returns its real path. */
  static Path makeFile(Path file, boolean create) {
    Path directory = file.getParent();
    if (directory == null || Files.isDirectory(file)) {
      throw new StoreUnfitException("'" + file + "' is a directory. Name a file in it.");
    }
    try {
      if (!Files.isDirectory(directory)) {
        Path above = directory.getParent();
        if (!create || above == null || !Files.isDirectory(above)) {
          throw new StoreUnfitException(
              "Directory '" + directory + "' for the lock file does not exist. Make it first.");
        }
        createIfMissing(() -> Files.createDirectory(directory, rights(directory, "rwx------")));
        log.warn(
            "Made directory '{}' for lock file '{}'. If a disk should have been mounted there, end this "
                + "process and mount it: others would use another file",
            directory,
            file);
      }
      refuseNetwork(Files.getFileStore(directory), file);
      if (!Files.exists(file)) {
        if (!create) {
          throw new StoreUnfitException(
              "Lock file '"
                  + file
                  + "' does not exist, and create=false forbids to make it. Make it from "
                  + "META-INF/mortise/sqlite/schema.sql of the jdbc module, or leave create=false out.");
        }
        createIfMissing(() -> Files.createFile(file, rights(directory, "rw-------")));
      }
      if (!Files.isWritable(file) || !Files.isWritable(directory)) {
        throw new StoreUnfitException(
            "Lock file '%s' or its directory is read-only for this process. A lock needs to write both."
                .formatted(file));
      }
      Path real = file.toRealPath();
      refuseSecondName(real);
      return real;
    } catch (IOException e) {
      throw new StoreUnfitException(
          "Lock file '" + file + "' cannot be made or reached: " + e + ".", e);
    }
  }

  private interface FileCreation {
    void make() throws IOException;
  }

  private static void createIfMissing(FileCreation fileCreation) throws IOException {
    try {
      fileCreation.make();
    } catch (FileAlreadyExistsException e) {
      // Another process was faster.
    }
  }

  private static FileAttribute<?>[] rights(Path near, String rights) {
    return near.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(rights))
        }
        : new FileAttribute<?>[0];
  }

  private static void refuseNetwork(FileStore store, Path file) {
    if (isNetwork(store.type()) || file.toString().startsWith("\\\\")) {
      throw new StoreUnfitException(
          "Lock file '"
              + file
              + "' lies on a network or shared file system ("
              + store.type()
              + "), where SQLite's locks do not hold between machines. Use a local disk, or a store "
              + "that is a server.");
    }
  }

  /** Refuses a file that can be opened by another name. */
  static void refuseSecondName(Path real) throws IOException {
    String second = FileAliasCheck.of(real);
    if (second != null) {
      throw new StoreUnfitException("Lock file '" + real + "' " + second + ". " + ONE_NAME);
    }
  }

  /** Whether a type of file system may be shared with another machine. */
  static boolean isNetwork(String type) {
    String lower = type.toLowerCase(Locale.ROOT);
    String kind = lower.startsWith("fuse.") ? lower.substring(5) : lower;
    return kind.startsWith("nfs") || kind.startsWith("smb") || NETWORK.contains(kind);
  }
}
