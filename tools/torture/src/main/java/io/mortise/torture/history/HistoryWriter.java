package io.mortise.torture.history;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.Consumer;

/** Writes events, each by one system call, so that a killed process loses none. Thread-safe. */
public final class HistoryWriter implements AutoCloseable {
  private final OutputStream out;

  /**
   * Appends to a file, which is created if missing.
   *
   * @throws IOException if it cannot be written
   */
  public HistoryWriter(Path file) throws IOException {
    out = Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /** Writes an event. */
  public void add(HistoryEvent historyEvent) {
    byte[] line = (historyEvent.line() + "\n").getBytes(StandardCharsets.UTF_8);
    try {
      synchronized (out) {
        out.write(line);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads files one after the other. Ignores an incomplete last line, left by a process killed
   * during a write.
   */
  public static void read(List<Path> files, Consumer<HistoryEvent> historyEvents) {
    for (Path file : files) {
      try (BufferedReader lines = Files.newBufferedReader(file)) {
        String line = lines.readLine();
        while (line != null) {
          String next = lines.readLine();
          if (next != null || endsWithLine(file)) {
            historyEvents.accept(HistoryEvent.parse(line));
          }
          line = next;
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static boolean endsWithLine(Path file) throws IOException {
    try (var channel = Files.newByteChannel(file)) {
      java.nio.ByteBuffer last = java.nio.ByteBuffer.allocate(1);
      channel.position(channel.size() - 1);
      channel.read(last);
      return last.get(0) == '\n';
    }
  }

  @Override
  public void close() {
    try {
      out.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
