package io.mortise.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The Lua scripts beside this class; what each does stands in its head. */
enum Script {
  LOCK("lock.lua"),
  RENEW("renew.lua"),
  JUDGE("judge.lua"),
  CLOSE("close.lua"),
  INSPECT("inspect.lua");

  final String text;
  final String sha;

  Script(String file) {
    try (InputStream resource = Script.class.getResourceAsStream(file)) {
      if (resource == null) {
        throw new IllegalStateException("Resource '" + file + "' is missing in the redis module.");
      }
      byte[] bytes = resource.readAllBytes();
      text = new String(bytes, StandardCharsets.UTF_8);
      sha = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("This JVM has no SHA-1, by which Redis names scripts.", e);
    }
  }
}
