package io.mortise.cli.output;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Detects whether a standard stream is a terminal. */
public enum Terminal {
  STDIN(0),
  STDOUT(1),
  STDERR(2);

  private final int descriptor;

  Terminal(int descriptor) {
    this.descriptor = descriptor;
  }

  /** The size of a terminal. */
  public record Size(int columns, int rows) {
    /** The size of other outputs: nothing is cut. */
    public static final Size UNLIMITED = new Size(Integer.MAX_VALUE, Integer.MAX_VALUE);
  }

  /**
   * Whether it is a terminal. The Java runtime does not tell, so this checks the target of the
   * descriptor, or asks a shell where the system does not show that.
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

  /** Its size; {@link Size#UNLIMITED} if it is no terminal, or does not tell. */
  public Size size() {
    if (!isPresent()) {
      return Size.UNLIMITED;
    }
    try {
      Process stty =
          new ProcessBuilder("stty", "size")
              .redirectInput(new File("/dev/tty"))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String told = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      String[] words = told.strip().split(" ", -1);
      if (!stty.waitFor(1, TimeUnit.SECONDS) || words.length != 2) {
        return Size.UNLIMITED;
      }
      int rows = Integer.parseInt(words[0]);
      int columns = Integer.parseInt(words[1]);
      return new Size(
          columns > 0 ? columns : Integer.MAX_VALUE, rows > 0 ? rows : Integer.MAX_VALUE);
    } catch (IOException | NumberFormatException e) {
      return Size.UNLIMITED;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Size.UNLIMITED;
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
