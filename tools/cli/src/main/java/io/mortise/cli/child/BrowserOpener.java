package io.mortise.cli.child;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Opens a link in the user's browser. Other users of the host can read command lines, and the link
 * has a token. So the browser gets a file, readable by its owner only, that redirects to the link.
 */
public final class BrowserOpener {
  private static final long PATIENCE_SECONDS = 3;

  private final Map<String, String> variables;
  private final String system;
  private final String user;

  /**
   * For a user of a host.
   *
   * @param variables the environment
   * @param system the name of the operating system, as reported by the JVM
   * @param user the user's name
   */
  BrowserOpener(Map<String, String> variables, String system, String user) {
    this.variables = variables;
    this.system = system.toLowerCase(Locale.ROOT);
    this.user = user;
  }

  /** For the user of this process. */
  public static BrowserOpener ofProcess(Map<String, String> variables) {
    return new BrowserOpener(
        variables, System.getProperty("os.name", ""), System.getProperty("user.name", ""));
  }

  /**
   * Starts the browser. Waits for seconds at most.
   *
   * @param folder for the file that redirects to the link
   * @return the reason of a failure; null if none is known
   */
  public @Nullable String open(URI link, Path folder) throws InterruptedException {
    if (user.equals("root")) {
      return "a browser does not run as root";
    }
    boolean mac = system.startsWith("mac");
    boolean windows = system.startsWith("windows");
    if (!mac
        && !windows
        && variables.getOrDefault("DISPLAY", "").isEmpty()
        && variables.getOrDefault("WAYLAND_DISPLAY", "").isEmpty()) {
      return "there is no display";
    }
    String program = mac ? "open" : windows ? "explorer" : "xdg-open";
    try {
      Path file = write(link, folder);
      Process process = start(program, file);
      boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
      // The one of Windows ends with 1 on success.
      return ended && process.exitValue() != 0 && !windows
          ? program + " ended with status " + process.exitValue()
          : null;
    } catch (IOException e) {
      return program + " cannot be started";
    }
  }

  /** Writes the file for the user only, until the console ends. */
  private static Path write(URI link, Path folder) throws IOException {
    Path file = Files.createTempFile(folder, "mortise-console-", ".html");
    file.toFile().deleteOnExit();
    String address =
        link.toString().replace("&", "&amp;").replace("\"", "&quot;").replace("<", "&lt;");
    return Files.writeString(
        file,
        """
        <!doctype html>
        <meta charset="utf-8">
        <meta name="referrer" content="no-referrer">
        <meta http-equiv="refresh" content="0;url=%s">
        <title>Mortise console</title>
        <a href="%s">To the console</a>
        """
            .formatted(address, address));
  }

  private Process start(String program, Path file) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(List.of(find(program), file.toUri().toString()));
    builder.environment().keySet().removeIf(name -> name.startsWith("MORTISE_"));
    return builder
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  /** Finds a program by the given PATH. */
  private String find(String program) throws FileNotFoundException {
    for (String folder : variables.getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      Path file = Path.of(folder, program);
      if (!folder.isEmpty() && Files.isExecutable(file)) {
        return file.toString();
      }
    }
    throw new FileNotFoundException(program);
  }
}
