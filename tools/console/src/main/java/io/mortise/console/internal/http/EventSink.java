package io.mortise.console.internal.http;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Writes server-sent events. Used by one thread. */
public final class EventSink {
  private final OutputStream out;
  private final WriteLimit limit;
  private final BooleanSupplier over;

  EventSink(OutputStream out, WriteLimit limit) {
    this(out, limit, () -> false);
  }

  /**
   * @param over whether its time limit is over
   */
  EventSink(OutputStream out, WriteLimit limit, BooleanSupplier over) {
    this.out = out;
    this.limit = limit;
    this.over = over;
  }

  /** Whether the stream has to end; the client may open another. */
  public boolean isOver() {
    return over.getAsBoolean();
  }

  /**
   * Writes an event.
   *
   * @param id for {@code Last-Event-ID}; null if it has none
   * @param data one line
   */
  public void event(String name, @Nullable String id, String data) throws IOException {
    write((id == null ? "" : "id: " + id + "\n") + "event: " + name + "\ndata: " + data + "\n\n");
  }

  /** Writes an empty comment: only a write detects a disconnected client. */
  public void comment() throws IOException {
    write(":\n\n");
  }

  private void write(String text) throws IOException {
    limit.run(
        () -> {
          out.write(text.getBytes(StandardCharsets.UTF_8));
          out.flush();
        });
  }
}
