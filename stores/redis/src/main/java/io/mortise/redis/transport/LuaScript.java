package io.mortise.redis.transport;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A Lua script, and its digest, by which Redis calls it.
 *
 * @param sha SHA-1 of the text in hexadecimal digits
 */
public record LuaScript(String text, String sha) {
  /** The script in a resource file beside a class of this module. */
  public static LuaScript beside(Class<?> owner, String file) {
    try (InputStream resource = owner.getResourceAsStream(file)) {
      if (resource == null) {
        throw new IllegalStateException("Resource '" + file + "' is missing in the redis module.");
      }
      return of(new String(resource.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The script of that text. */
  public static LuaScript of(String text) {
    try {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      return new LuaScript(
          text, HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("This JVM has no SHA-1, by which Redis names scripts.", e);
    }
  }
}
