package io.mortise.jdbc.notify;

import io.mortise.spi.SessionId;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.ClosedDirectoryStreamException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The folder beside a database in which each session has a folder of its own.
 *
 * <p>Other users may write there: all who share the database, and a user who made the folder before
 * the first session did. So each step opens one folder from within the one above it, without
 * following a symbolic link, and no existing file is ever opened for writing. The JDK lacks a way
 * to make a folder so; a user who may replace the whole folder within that instant can have an
 * empty folder made elsewhere, and nothing else.
 */
final class FileNotifierFolder implements AutoCloseable {
  private final Path database;
  private final Path path;

  private final ReentrantLock guard = new ReentrantLock();

  /** The folder that was found to be in order; null if none was yet. */
  private volatile @Nullable Object accepted;

  /** The same, open; null before and after it is used. */
  private volatile @Nullable SecureDirectoryStream<Path> kept;

  private boolean closed;

  /**
   * @param database its real path, so that all names of it lead to one folder
   */
  FileNotifierFolder(Path database) {
    this.database = database;
    // The name of the folder, on disk and in docs/internals/sql-schema.md.
    this.path = database.resolveSibling(database.getFileName() + ".bells");
  }

  /** The path of a session's folder. */
  Path path(SessionId session) {
    return path.resolve(session.value());
  }

  /**
   * Opens the folder.
   *
   * @throws NoSuchFileException if there is none
   * @throws IOException if it is a link, or belongs to a user who has no part in the database
   */
  SecureDirectoryStream<Path> open() throws IOException {
    try (DirectoryStream<Path> above =
        Files.newDirectoryStream(Objects.requireNonNull(path.getParent()))) {
      SecureDirectoryStream<Path> folder = open(secure(above), fileName(path));
      try {
        refuseForeign(folder);
        return folder;
      } catch (IOException | RuntimeException e) {
        folder.close();
        throw e;
      }
    }
  }

  /**
   * Opens the folder of a session.
   *
   * @throws NoSuchFileException if there is none
   */
  SecureDirectoryStream<Path> open(SessionId session) throws IOException {
    Path name = fileName(path(session));
    SecureDirectoryStream<Path> folder = kept;
    if (folder != null) {
      try {
        return open(folder, name);
      } catch (NoSuchFileException | ClosedDirectoryStreamException e) {
        // The folder may have been removed and made again; asked anew below.
      }
    }
    SecureDirectoryStream<Path> fresh = open();
    try {
      return open(fresh, name);
    } finally {
      keep(fresh);
    }
  }

  /** For the next one: to open and examine it each time takes several times as long. */
  private void keep(SecureDirectoryStream<Path> fresh) throws IOException {
    SecureDirectoryStream<Path> old;
    guard.lock();
    try {
      old = closed ? fresh : kept;
      kept = closed ? null : fresh;
    } finally {
      guard.unlock();
    }
    if (old != null) {
      old.close();
    }
  }

  /** Closes what was kept open. The folder stays usable, and keeps nothing more. */
  @Override
  public void close() throws IOException {
    guard.lock();
    try {
      closed = true;
      if (kept != null) {
        kept.close();
        kept = null;
      }
    } finally {
      guard.unlock();
    }
  }

  /** Makes the folder of a session, and opens it. */
  SecureDirectoryStream<Path> make(SessionId session) throws IOException {
    if (makeFolder(path)) {
      try (SecureDirectoryStream<Path> folder = open()) {
        giveRights(folder);
      }
    }
    try (SecureDirectoryStream<Path> folder = open()) {
      makeFolder(path(session));
      SecureDirectoryStream<Path> own = open(folder, fileName(path(session)));
      try {
        giveRights(own);
        return own;
      } catch (IOException | RuntimeException e) {
        own.close();
        throw e;
      }
    }
  }

  /** Makes a file that is not there yet, for all who may use the database. */
  FileChannel makeFile(SecureDirectoryStream<Path> folder, Path name) throws IOException {
    FileChannel made =
        (FileChannel)
            folder.newByteChannel(
                name,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try {
      PosixFileAttributes model = Files.readAttributes(database, PosixFileAttributes.class);
      view(folder, name).setPermissions(model.permissions());
      return made;
    } catch (IOException | RuntimeException e) {
      made.close();
      throw e;
    }
  }

  private static PosixFileAttributeView view(SecureDirectoryStream<Path> folder, Path name) {
    return folder.getFileAttributeView(
        name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
  }

  private static boolean makeFolder(Path made) throws IOException {
    try {
      Files.createDirectory(
          made, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }

  private static Path fileName(Path of) {
    return Objects.requireNonNull(of.getFileName());
  }

  private static SecureDirectoryStream<Path> open(SecureDirectoryStream<Path> above, Path name)
      throws IOException {
    // Asked first, since opening a pipe would wait for its other end.
    BasicFileAttributes found =
        above
            .getFileAttributeView(name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
            .readAttributes();
    if (!found.isDirectory()) {
      throw new NotDirectoryException(name + (found.isSymbolicLink() ? " is a link" : ""));
    }
    return above.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS);
  }

  private static SecureDirectoryStream<Path> secure(DirectoryStream<Path> opened)
      throws IOException {
    if (opened instanceof SecureDirectoryStream<Path> secure) {
      return secure;
    }
    throw new IOException("This file system cannot open a file from within an open directory.");
  }

  /** Only a user who may write the database may have made the folder. */
  private void refuseForeign(SecureDirectoryStream<Path> folder) throws IOException {
    PosixFileAttributes found =
        folder.getFileAttributeView(PosixFileAttributeView.class).readAttributes();
    if (found.fileKey() != null && found.fileKey().equals(accepted)) {
      return;
    }
    PosixFileAttributes model = Files.readAttributes(database, PosixFileAttributes.class);
    boolean isShared =
        model.permissions().contains(PosixFilePermission.GROUP_WRITE)
            || model.permissions().contains(PosixFilePermission.OTHERS_WRITE);
    if (!isShared
        && !found.owner().equals(model.owner())
        && !found.owner().equals(Files.getOwner(Path.of("/proc/self")))) {
      throw new FileSystemException(
          path.toString(),
          null,
          "it belongs to '" + found.owner() + "', who may not write the lock file");
    }
    accepted = found.fileKey();
  }

  /** Gives a new folder the owner, the group and the rights of the database. */
  private void giveRights(SecureDirectoryStream<Path> folder) throws IOException {
    PosixFileAttributes model = Files.readAttributes(database, PosixFileAttributes.class);
    PosixFileAttributeView view = folder.getFileAttributeView(PosixFileAttributeView.class);
    PosixFileAttributes found = view.readAttributes();
    try {
      if (!found.owner().equals(model.owner())) {
        view.setOwner(model.owner());
      }
      if (!found.group().equals(model.group())) {
        view.setGroup(model.group());
      }
    } catch (IOException e) {
      // Only root may give files away. Others wake each other as far as the rights below allow.
    }
    Set<PosixFilePermission> rights = new HashSet<>(model.permissions());
    add(rights, PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_EXECUTE);
    add(rights, PosixFilePermission.GROUP_READ, PosixFilePermission.GROUP_EXECUTE);
    add(rights, PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_EXECUTE);
    view.setPermissions(rights);
  }

  private static void add(
      Set<PosixFilePermission> rights, PosixFilePermission reads, PosixFilePermission enters) {
    if (rights.contains(reads)) {
      rights.add(enters);
    }
  }
}
