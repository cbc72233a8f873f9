package io.mortise.cli.output;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether a person sits at the other end of a standard stream. */
public enum Terminal {
  STDIN(0),
  STDERR(2);

  private final int descriptor;

  Terminal(int descriptor) {
    this.descriptor = descriptor;
  }

  /**
   * The Java runtime does not tell, so this looks at what the descriptor leads to, and asks a shell
   * where the system does not show that.
   */
  public boolean isPresent() {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/")
          || target.startsWith("/dev/tty")
          || target.startsWith("/dev/console");
    } catch (IOException | UnsupportedOperationException e) {
      return isPresentForShell();
    }
  }

  private boolean isPresentForShell() {
    try {
      return new ProcessBuilder("/bin/sh", "-c", "[ -t " + descriptor + " ]")
              .inheritIO()
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
