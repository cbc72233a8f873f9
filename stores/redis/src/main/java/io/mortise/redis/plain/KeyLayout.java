package io.mortise.redis.plain;

import io.mortise.redis.transport.LuaScript;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The form in which a lock is written. The commands are those of other clients, byte for byte. */
public enum KeyLayout {
  /**
   * {@code SET key value NX PX ttl}, compare-and-delete, compare-and-extend, as published with
   * Redis itself. The value is unique to each attempt.
   */
  STRING {
    @Override
    RedisCommand take(String key, String value, String ttlMillis) {
      return RedisCommand.of("SET", key, value, "NX", "PX", ttlMillis);
    }

    @Override
    boolean isTaken(@Nullable Object answer) {
      return "OK".equals(answer);
    }

    @Override
    RedisCommand release(String key, String value, CompareAndDelete by) {
      return switch (by) {
        case SCRIPT -> RedisCommand.of(LayoutScripts.RELEASE, List.of(key), List.of(value));
        case DELEX -> RedisCommand.of("DELEX", key, "IFEQ", value);
        case DELIFEQ -> RedisCommand.of("DELIFEQ", key, value);
      };
    }

    @Override
    RedisCommand who(String key) {
      return RedisCommand.of("GET", key);
    }

    @Override
    @Nullable String holder(@Nullable Object answer) {
      return answer instanceof String value ? value : null;
    }
  },

  /**
   * A hash with one field, the holder, whose value counts its entries, and an expiry: the
   * re-entrant lock of the widespread Java client, with the channel that notifies its waiters. The
   * field is unique to each attempt, and its count is always 1, since re-entry is counted in the
   * process.
   */
  HASH {
    @Override
    RedisCommand take(String key, String value, String ttlMillis) {
      return RedisCommand.of(LayoutScripts.HASH_TAKE, List.of(key), List.of(ttlMillis, value));
    }

    @Override
    boolean isTaken(@Nullable Object answer) {
      return Long.valueOf(1).equals(answer);
    }

    @Override
    RedisCommand release(String key, String value, CompareAndDelete by) {
      return RedisCommand.of(
          LayoutScripts.HASH_RELEASE, List.of(key, channel(key)), List.of(value));
    }

    @Override
    RedisCommand who(String key) {
      return RedisCommand.of("HKEYS", key);
    }

    @Override
    @Nullable String holder(@Nullable Object answer) {
      return answer instanceof List<?> fields && !fields.isEmpty()
          ? String.valueOf(fields.get(0))
          : null;
    }

    @Override
    @Nullable String channelOfReleases(String key) {
      return channel(key);
    }

    private static String channel(String key) {
      return "redisson_lock__channel:" + (key.contains("{") ? key : "{" + key + "}");
    }
  };

  private static final class LayoutScripts {
    static final LuaScript RELEASE = LuaScript.beside(KeyLayout.class, "release.lua");
    static final LuaScript EXTEND = LuaScript.beside(KeyLayout.class, "extend.lua");
    static final LuaScript HASH_TAKE = LuaScript.beside(KeyLayout.class, "hash_take.lua");
    static final LuaScript HASH_RELEASE = LuaScript.beside(KeyLayout.class, "hash_release.lua");
    static final LuaScript HASH_EXTEND = LuaScript.beside(KeyLayout.class, "hash_extend.lua");
  }

  /** The server's means to delete a key that has a certain value. */
  enum CompareAndDelete {
    /** Lua: every server. */
    SCRIPT,
    /** Redis 8.4. */
    DELEX,
    /** Valkey 9. */
    DELIFEQ
  }

  /**
   * By the name in a store URL.
   *
   * @throws IllegalArgumentException if there is no such layout
   */
  public static KeyLayout named(String name) {
    for (KeyLayout keyLayout : values()) {
      if (keyLayout.toString().equals(name)) {
        return keyLayout;
      }
    }
    throw new IllegalArgumentException(
        "'" + name + "' is not a layout of plain locks. Expected string or hash.");
  }

  /** Takes the lock if it is free. */
  abstract RedisCommand take(String key, String value, String ttlMillis);

  abstract boolean isTaken(@Nullable Object answer);

  /** Frees the lock if it has this value; answered with 1 or 0. */
  abstract RedisCommand release(String key, String value, CompareAndDelete by);

  /**
   * Restarts the expiry of those locks that have their values; answered with a list of 1s and 0s.
   * Always a script: a full server refuses SET with IFEQ, and all leases would be lost.
   */
  RedisCommand extend(List<String> keys, List<String> values, String ttlMillis) {
    List<String> args = new ArrayList<>(values.size() + 1);
    args.add(ttlMillis);
    args.addAll(values);
    return RedisCommand.of(
        this == HASH ? LayoutScripts.HASH_EXTEND : LayoutScripts.EXTEND, keys, args);
  }

  /** Reads the holder of the lock. */
  abstract RedisCommand who(String key);

  /** The value of the hold in the answer to {@link #who}; null if the lock is free. */
  abstract @Nullable String holder(@Nullable Object answer);

  /** The channel on which releases are published; null if they are not. */
  @Nullable String channelOfReleases(String key) {
    return null;
  }

  List<LuaScript> scripts() {
    return this == HASH
        ? List.of(LayoutScripts.HASH_TAKE, LayoutScripts.HASH_RELEASE, LayoutScripts.HASH_EXTEND)
        : List.of(LayoutScripts.RELEASE, LayoutScripts.EXTEND);
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
