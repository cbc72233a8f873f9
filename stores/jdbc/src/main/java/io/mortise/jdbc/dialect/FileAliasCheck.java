package io.mortise.jdbc.dialect;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether a database file can be reached by a second path. SQLite keeps the write-ahead log and the
 * index of it beside the path by which a file was opened: processes that open one file by two paths
 * do not see each other's commits, and may damage it. A symbolic link is no second path, as SQLite
 * resolves it; a hard link is one, and so is a file that is mounted by itself into a container.
 */
final class FileAliasCheck {
  private static final Path MOUNTS = Path.of("/proc/self/mountinfo");

  /** The field of a line that has the mount point. */
  private static final int POINT = 4;

  private FileAliasCheck() {}

  /**
   * The fault of a file, as the end of a sentence that begins with its name; null if there is none.
   *
   * @param real its path without links
   */
  static @Nullable String of(Path real) throws IOException {
    if (real.getFileSystem().supportedFileAttributeViews().contains("unix")) {
      int links = (Integer) Files.getAttribute(real, "unix:nlink");
      if (links > 1) {
        return "has " + links + " names (hard links)";
      }
    }
    return isMountPoint(real) ? "is mounted by itself" : null;
  }

  private static boolean isMountPoint(Path real) {
    List<String> lines;
    try {
      lines = Files.readAllLines(MOUNTS);
    } catch (IOException e) {
      // Not Linux, or /proc is hidden.
      return false;
    }
    String wanted = escaped(real.toString());
    return lines.stream()
        .map(line -> line.split(" ", POINT + 2))
        .anyMatch(fields -> fields.length > POINT && fields[POINT].equals(wanted));
  }

  /** As the kernel writes paths there. */
  static String escaped(String path) {
    return path.replace("\\", "\\134")
        .replace(" ", "\\040")
        .replace("\t", "\\011")
        .replace("\n", "\\012");
  }
}
