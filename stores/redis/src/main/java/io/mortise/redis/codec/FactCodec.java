package io.mortise.redis.codec;

import io.mortise.spi.Fact;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Arguments and answers of fact.lua, whose head defines them. */
public final class FactCodec {
  /** The script's arguments for a read. */
  public static final List<String> READ = List.of();

  private static final int VERSION_DIGITS = 16;

  private FactCodec() {}

  /** The script's arguments for a replacement. */
  public static List<String> replacement(long version, String content, Duration keep) {
    return List.of(Long.toString(version), content, Long.toString(keep.toMillis()));
  }

  /** The fact in the answer to a read. */
  public static Fact fact(@Nullable Object answer) {
    return answer instanceof String text
        ? new Fact(LockCodec.number(text, 0, VERSION_DIGITS), text.substring(VERSION_DIGITS))
        : Fact.NONE;
  }

  /** The new version; 0 if nothing was replaced. */
  public static long version(@Nullable Object answer) {
    return Long.parseLong(String.valueOf(answer));
  }
}
