package io.mortise.redis.lettuce;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Takes any reply that Lettuce has read: a text, a number, a list of such, or null. */
final class AnyReplyOutput extends CommandOutput<String, String, Object> {
  /** Lists that are not complete yet, the innermost first. */
  private final ArrayDeque<PartialList> open = new ArrayDeque<>();

  private record PartialList(List<@Nullable Object> items, int size) {}

  AnyReplyOutput() {
    super(StringCodec.UTF8, null);
  }

  @Override
  public void set(@Nullable ByteBuffer text) {
    add(text == null ? null : StringCodec.UTF8.decodeValue(text));
  }

  @Override
  public void setSingle(@Nullable ByteBuffer text) {
    set(text);
  }

  @Override
  public void set(long number) {
    add(number);
  }

  @Override
  public void multi(int size) {
    if (size < 0) {
      add(null);
      return;
    }
    PartialList part = new PartialList(new ArrayList<>(), size);
    put(part.items);
    open.push(part);
    popFull();
  }

  private void add(@Nullable Object value) {
    put(value);
    popFull();
  }

  private void put(@Nullable Object value) {
    PartialList part = open.peek();
    if (part == null) {
      output = value;
    } else {
      part.items.add(value);
    }
  }

  private void popFull() {
    for (PartialList part = open.peek();
        part != null && part.items.size() == part.size;
        part = open.peek()) {
      open.pop();
    }
  }
}
