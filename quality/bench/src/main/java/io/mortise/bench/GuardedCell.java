package io.mortise.bench;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The data that a contended lock guards, in memory or in a file mapped by several processes. A
 * counter is read, then written, so that two threads inside at one time lose an update sooner or
 * later. A mark names the thread inside.
 */
final class GuardedCell {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final int COUNT = 0;
  private static final int INSIDE = 8;
  private static final int OVERLAPS = 16;
  private static final int LAST_THREAD = 24;
  private static final int LAST_PROCESS = 32;
  private static final int THREAD_SWITCHES = 40;
  private static final int PROCESS_SWITCHES = 48;
  private static final int BYTES = 64;

  private final ByteBuffer memory;

  private GuardedCell(ByteBuffer memory) {
    this.memory = memory;
  }

  static GuardedCell here() {
    return new GuardedCell(ByteBuffer.allocateDirect(BYTES));
  }

  static GuardedCell in(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new GuardedCell(channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES));
    }
  }

  void clear() {
    for (int at = 0; at < BYTES; at += Long.BYTES) {
      set(at, 0);
    }
  }

  /** The critical section. Both numbers are greater than zero. */
  void visit(long process, long thread) {
    if (get(INSIDE) != 0) {
      set(OVERLAPS, get(OVERLAPS) + 1);
    }
    set(INSIDE, thread);
    long count = get(COUNT);
    if (get(LAST_THREAD) != thread) {
      set(THREAD_SWITCHES, get(THREAD_SWITCHES) + 1);
      set(LAST_THREAD, thread);
    }
    if (get(LAST_PROCESS) != process) {
      set(PROCESS_SWITCHES, get(PROCESS_SWITCHES) + 1);
      set(LAST_PROCESS, process);
    }
    set(COUNT, count + 1);
    set(INSIDE, 0);
  }

  /** Visits that lost their update, given how many there were, and visits that met another. */
  long broken(long visits) {
    return Math.abs(visits - get(COUNT)) + get(OVERLAPS);
  }

  long threadSwitches() {
    return get(THREAD_SWITCHES);
  }

  long processSwitches() {
    return get(PROCESS_SWITCHES);
  }

  private long get(int at) {
    return (long) LONG.getVolatile(memory, at);
  }

  private void set(int at, long value) {
    LONG.setVolatile(memory, at, value);
  }
}
