package io.mortise.nats;

import io.mortise.internal.storekit.KeyEscaper;
import java.util.Optional;

/**
 * Keys of documents as keys of a bucket, one to one: the slash behind the kind is a dot there, and
 * what a key of NATS cannot have is escaped.
 */
final class KeyToken {
  private static final KeyEscaper NAMES = new KeyEscaper("-_/");

  private KeyToken() {}

  static String encode(String key) {
    int slash = key.indexOf('/');
    return key.substring(0, slash) + "." + NAMES.escape(key.substring(slash + 1));
  }

  /** The reverse; empty if it is the token of no document, which another program has made. */
  static Optional<String> decode(String token) {
    int dot = token.indexOf('.');
    return dot < 0
        ? Optional.empty()
        : NAMES
            .unescape(token.substring(dot + 1))
            .map(name -> token.substring(0, dot) + "/" + name);
  }
}
