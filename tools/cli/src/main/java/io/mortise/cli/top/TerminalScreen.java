package io.mortise.cli.top;

import java.io.File;
import java.io.IOError;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.jline.terminal.Attributes;
import org.jline.terminal.Attributes.ControlChar;
import org.jline.terminal.Attributes.InputFlag;
import org.jline.terminal.Attributes.LocalFlag;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.ClosedException;
import org.jline.utils.NonBlockingReader;
import org.jline.utils.Signals;

/**
 * The whole terminal as a screen. The terminal is restored at any end of the process but by
 * SIGKILL: {@link #close} also runs when the JVM ends.
 */
final class TerminalScreen implements AutoCloseable {
  /**
   * Alternate buffer, no cursor, and no wrapping, as terminals disagree on the width of some
   * characters.
   */
  private static final String ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l";

  private static final String LEAVE = "\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l";
  private static final String HOME_AND_CLEAR = "\u001b[H\u001b[2J";

  private static final int COLUMNS = 80;
  private static final int ROWS = 24;

  /** The exit status after SIGTERM. */
  private static final int TERMINATED = 143;

  private static final int CHECKS = 5;
  private static final long PAUSE_MILLIS = 50;
  private static final Duration MOMENT = Duration.ofSeconds(1);
  private static final Duration SETTING = Duration.ofSeconds(5);

  private final Terminal terminal;
  private final OutputStream out;
  private final boolean colours;
  private final FutureTask<?> afterwards;
  private final Duration patience;
  private final Attributes before;
  private final String settings;
  private final KeyDecoder keys;
  private final Thread atEnd;
  private final Object resized;
  private final Object continued;

  private volatile boolean stale = true;
  private boolean closed;
  private List<ScreenLine> shown = List.of();
  private int columns = COLUMNS;
  private int rows = ROWS;

  private TerminalScreen(
      Terminal terminal, OutputStream out, boolean colours, Runnable afterwards, Duration patience)
      throws IOException {
    this.terminal = terminal;
    this.out = out;
    this.colours = colours;
    this.afterwards = new FutureTask<>(Executors.callable(afterwards));
    this.patience = patience;
    NonBlockingReader reader = terminal.reader();
    this.keys = new KeyDecoder(millis -> read(reader, millis));
    this.settings = stty("-g");
    this.before = terminal.enterRawMode();
    this.atEnd = new Thread(this::end, "mortise-top-end");
    Runtime.getRuntime().addShutdownHook(atEnd);
    this.resized = Signals.register("WINCH", () -> stale = true);
    this.continued = Signals.register("CONT", () -> stale = true);
  }

  /**
   * Takes the terminal of this process.
   *
   * @param out of the terminal; bytes are passed unchanged
   * @param afterwards runs once, when the terminal is restored
   * @param patience how long the end of the JVM waits for the restoration
   * @throws IOException if there is none
   */
  static TerminalScreen open(
      OutputStream out, boolean colours, Runnable afterwards, Duration patience)
      throws IOException {
    Terminal terminal =
        TerminalBuilder.builder()
            .system(true)
            .dumb(false)
            .provider("exec")
            // Ctrl-C ends the process as usual, which runs the hook of this class.
            .nativeSignals(false)
            // No queries of terminal features are needed.
            .graphemeCluster(false)
            .build();
    return new TerminalScreen(terminal, out, colours, afterwards, patience);
  }

  /**
   * Reads a character. The end of the JVM closes the terminal during a read, which ends the input.
   */
  private static int read(NonBlockingReader reader, long millis) throws IOException {
    try {
      return reader.read(millis);
    } catch (InterruptedIOException | ClosedException e) {
      return KeyDecoder.END_OF_INPUT;
    }
  }

  int columns() {
    return columns;
  }

  int rows() {
    return rows;
  }

  KeyDecoder keys() {
    return keys;
  }

  /** Sets up the terminal again if its size has changed, or if the process was stopped. */
  synchronized void refresh() throws IOException {
    if (closed || !stale) {
      return;
    }
    stale = false;
    Attributes raw = new Attributes(before);
    raw.setLocalFlag(LocalFlag.ICANON, false);
    raw.setLocalFlag(LocalFlag.ECHO, false);
    raw.setLocalFlag(LocalFlag.IEXTEN, false);
    raw.setLocalFlag(LocalFlag.ISIG, true);
    // Ctrl-S would stop the output, including the restoration of the terminal.
    raw.setInputFlag(InputFlag.IXON, false);
    // A process stopped by a key would leave its screen to the shell.
    raw.setControlChar(ControlChar.VSUSP, 0);
    raw.setControlChar(ControlChar.VMIN, 1);
    raw.setControlChar(ControlChar.VTIME, 0);
    terminal.setAttributes(raw);
    Size now = terminal.getSize();
    columns = now.getColumns() > 0 ? now.getColumns() : COLUMNS;
    rows = now.getRows() > 0 ? now.getRows() : ROWS;
    shown = List.of();
    write(ENTER + HOME_AND_CLEAR);
  }

  /** Shows these lines, writing only the changed ones. */
  synchronized void draw(List<ScreenLine> lines) throws IOException {
    if (closed) {
      return;
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < lines.size(); i++) {
      ScreenLine line = lines.get(i);
      if (i >= shown.size() || !shown.get(i).equals(line)) {
        String codes = line.style().codes(colours);
        text.append("\u001b[").append(i + 1).append(";1H\u001b[2K");
        text.append(codes.isEmpty() ? "" : "\u001b[" + codes + "m");
        text.append(line.text());
        text.append(codes.isEmpty() ? "" : "\u001b[0m");
      }
    }
    shown = List.copyOf(lines);
    write(text.toString());
  }

  private void write(String text) throws IOException {
    out.write(text.getBytes(Charset.defaultCharset()));
    out.flush();
  }

  /** Changes or reads settings of the terminal by the system's program. */
  private static String stty(String settings) throws IOException {
    Process stty =
        new ProcessBuilder("stty", settings)
            .redirectInput(new File("/dev/tty"))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (InputStream told = stty.getInputStream()) {
      return new String(told.readAllBytes(), StandardCharsets.US_ASCII).strip();
    }
  }

  private synchronized void leave() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      write(LEAVE);
    } catch (IOException e) {
      // The terminal is gone.
    }
  }

  private void restore() {
    try {
      terminal.setAttributes(before);
    } catch (IOError | RuntimeException e) {
      // The terminal is closed, or JLine has already restored it at the end of the JVM.
    }
    try {
      // At the end of the JVM JLine closes the terminal concurrently: this call has the last word.
      stty(settings);
    } catch (IOException e) {
      // Without the program, or the terminal, there is nothing more to do.
    }
  }

  /** Repeats the restoration: JLine's reading thread may be about to set earlier settings again. */
  private void insist() {
    try {
      for (int i = 0; i < CHECKS; i++) {
        Thread.sleep(PAUSE_MILLIS);
        if (!stty("-g").equals(settings)) {
          stty(settings);
        }
      }
    } catch (IOException | InterruptedException e) {
      // As above.
    }
  }

  /** Runs at the end of the JVM. A terminal that accepts no output does not delay it. */
  private void end() {
    Thread leaving = attempt(this::leave, MOMENT);
    attempt(this::restore, SETTING);
    attempt(this::insist, SETTING);
    attempt(
        () -> {
          afterwards.run();
          waitFor(afterwards);
        },
        patience);
    if (leaving.isAlive()) {
      // The hook of JLine would wait for the output for ever.
      Runtime.getRuntime().halt(TERMINATED);
    }
  }

  /** Waits for a task for this time at most, after which the end of the JVM ends it. */
  private static Thread attempt(Runnable task, Duration most) {
    Thread thread = new Thread(task, "mortise-top-end-step");
    thread.setDaemon(true);
    thread.start();
    try {
      thread.join(most.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return thread;
  }

  /** Waits for a task that the drawing thread may have started first. */
  private static void waitFor(Future<?> task) {
    try {
      task.get();
    } catch (ExecutionException | InterruptedException e) {
      // Nothing can report this any more.
    }
  }

  @Override
  public void close() throws IOException {
    leave();
    restore();
    afterwards.run();
    Signals.unregister("WINCH", resized);
    Signals.unregister("CONT", continued);
    terminal.close();
    try {
      Runtime.getRuntime().removeShutdownHook(atEnd);
    } catch (IllegalStateException e) {
      // The JVM is ending.
    }
  }
}
