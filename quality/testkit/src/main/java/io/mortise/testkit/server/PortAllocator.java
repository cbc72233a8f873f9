package io.mortise.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/**
 * Ports of test servers, reserved while this process lives, even while a server is restarting. They
 * are below the ephemeral ports (from 32,768 on). Other processes do not get them: each port is a
 * lock on a byte of one file. Thread-safe.
 */
final class PortAllocator {
  private static final int FIRST = 11_000;
  private static final int LAST = 21_999;
  private static final int TRIES = 10_000;

  private static final SecureRandom RANDOM = new SecureRandom();

  /** Strong references: a closed or collected channel releases its locks. */
  private static final List<FileLock> RESERVED = new ArrayList<>();

  private static final FileChannel FILE = open();

  private PortAllocator() {}

  private static FileChannel open() {
    Path file =
        Path.of(System.getProperty("java.io.tmpdir"))
            .resolve("mortise-ports-" + System.getProperty("user.name"));
    try {
      Files.createDirectories(file.getParent());
      return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reserves an unused port together with the one higher by this distance. */
  static synchronized int reserveWith(int distance) {
    for (int i = 0; i < TRIES; i++) {
      int port = FIRST + RANDOM.nextInt(LAST + 1 - FIRST);
      if (isReserved(port)
          && isFree(port)
          && (distance == 0 || (isReserved(port + distance) && isFree(port + distance)))) {
        return port;
      }
    }
    throw new IllegalStateException(
        "No port of the loopback between " + FIRST + " and " + LAST + " is free.");
  }

  private static boolean isReserved(int port) {
    try {
      FileLock lock = FILE.tryLock(port, 1, false);
      return lock != null && RESERVED.add(lock);
    } catch (OverlappingFileLockException e) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isFree(int port) {
    try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return free.isBound();
    } catch (IOException e) {
      return false;
    }
  }
}
