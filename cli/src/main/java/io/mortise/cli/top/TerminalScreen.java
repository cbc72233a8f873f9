package io.mortise.cli.top;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jline.terminal.Attributes;
import org.jline.terminal.Attributes.ControlChar;
import org.jline.terminal.Attributes.LocalFlag;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.NonBlockingReader;
import org.jline.utils.Signals;

/**
 * The whole terminal as a screen. However the process ends but by SIGKILL, the terminal is left as
 * it was: {@link #close} runs when the JVM ends too.
 */
final class TerminalScreen implements AutoCloseable {
  /** The other buffer, no cursor. */
  private static final String ENTER = "\u001b[?1049h\u001b[?25l";

  private static final String LEAVE = "\u001b[0m\u001b[?25h\u001b[?1049l";
  private static final String HOME_AND_CLEAR = "\u001b[H\u001b[2J";

  private static final int COLUMNS = 80;
  private static final int ROWS = 24;

  private final Terminal terminal;
  private final OutputStream out;
  private final boolean colours;
  private final Runnable afterwards;
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

  private TerminalScreen(Terminal terminal, OutputStream out, boolean colours, Runnable afterwards)
      throws IOException {
    this.terminal = terminal;
    this.out = out;
    this.colours = colours;
    this.afterwards = afterwards;
    NonBlockingReader reader = terminal.reader();
    this.keys = new KeyDecoder(millis -> reader.read(millis));
    this.settings = stty("-g");
    this.before = terminal.enterRawMode();
    this.atEnd = new Thread(this::leave, "mortise-top-end");
    Runtime.getRuntime().addShutdownHook(atEnd);
    this.resized = Signals.register("WINCH", () -> stale = true);
    this.continued = Signals.register("CONT", () -> stale = true);
  }

  /**
   * Takes the terminal of this process.
   *
   * @param out of the terminal; bytes pass as they are
   * @param afterwards runs once, when the terminal is as before
   * @throws IOException if there is none
   */
  static TerminalScreen open(OutputStream out, boolean colours, Runnable afterwards)
      throws IOException {
    Terminal terminal =
        TerminalBuilder.builder()
            .system(true)
            .dumb(false)
            .provider("exec")
            // Ctrl-C ends the process as it ends any other: the hook of this class runs then.
            .nativeSignals(false)
            // Terminals need not be asked what they can do.
            .graphemeCluster(false)
            .build();
    return new TerminalScreen(terminal, out, colours, afterwards);
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

  /** Takes the terminal anew if its size is another, or if the process had been stopped. */
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
    // A process that is stopped by a key would leave its screen to the shell.
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

  /** Shows these lines; writes those that are others than before. */
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

  /** Has the system's program change settings of the terminal, or tell them. */
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
      terminal.setAttributes(before);
    } catch (IOException | RuntimeException e) {
      // The terminal is gone, or JLine was first to set it back at the end of the JVM.
    }
    try {
      // At the end of the JVM JLine closes the terminal at the same time: this has the last word.
      stty(settings);
    } catch (IOException e) {
      // Without the program, or the terminal, there is nothing more to do.
    } finally {
      afterwards.run();
    }
  }

  @Override
  public void close() throws IOException {
    leave();
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
