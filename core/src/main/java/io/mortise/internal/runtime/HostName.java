package io.mortise.internal.runtime;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The name of this host. The JDK also resolves its address, which may take long. */
public final class HostName {
  /** Linux has its host name here. */
  private static final Path KERNEL = Path.of("/proc/sys/kernel/hostname");

  private static final long LOOKUP_SECONDS = 2;

  private HostName() {}

  /** The kernel's host name, or the environment's if that is unknown. Blocks for 2 s at most. */
  public static String own() {
    try {
      return Files.readString(KERNEL).strip();
    } catch (IOException e) {
      return lookedUp();
    }
  }

  private static String lookedUp() {
    try {
      return CompletionStages.detached(
              "mortise-host-name", () -> InetAddress.getLocalHost().getHostName())
          .get(LOOKUP_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return System.getenv().getOrDefault("HOSTNAME", "unknown");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return System.getenv().getOrDefault("HOSTNAME", "unknown");
    }
  }
}
