package io.mortise.zookeeper.internal.node;

import io.mortise.LockName;
import java.nio.charset.StandardCharsets;

/**
 * Lock names as names of nodes, and back: injective, for any legal name.
 *
 * <p>Letters, digits and {@code - . _ ~} stand for themselves, all other bytes of the UTF-8 form as
 * {@code %XX}. So no node's name has a slash, a control character or any of the code points that
 * ZooKeeper refuses. A name that would be {@code .} or {@code ..}, which no path may hold, has its
 * first dot written as {@code %2E}; so has the name {@code zookeeper}'s first letter, which is
 * reserved at the root.
 */
public final class NodeNames {
  private static final String HEX = "0123456789ABCDEF";

  private NodeNames() {}

  /** The node's name; at most three times as long as the lock's, in bytes. */
  public static String encode(LockName name) {
    byte[] bytes = name.utf8();
    String value = name.value();
    boolean first = value.equals(".") || value.equals("..") || value.equals("zookeeper");
    StringBuilder encoded = new StringBuilder(bytes.length + 16);
    for (byte b : bytes) {
      char c = (char) (b & 0xff);
      if (isPlain(c) && !first) {
        encoded.append(c);
      } else {
        encoded.append('%').append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
      }
      first = false;
    }
    return encoded.toString();
  }

  /**
   * The reverse of {@link #encode}.
   *
   * @throws IllegalArgumentException if no lock's node has that name
   */
  public static LockName decode(String node) {
    byte[] bytes = new byte[node.length()];
    int length = 0;
    for (int i = 0; i < node.length(); i++) {
      char c = node.charAt(i);
      if (c != '%') {
        bytes[length++] = (byte) c;
      } else if (i + 2 < node.length()) {
        bytes[length++] = (byte) Integer.parseInt(node, i + 1, i + 3, 16);
        i += 2;
      } else {
        throw new IllegalArgumentException("Not the node of a lock: '" + node + "'.");
      }
    }
    LockName name = LockName.of(new String(bytes, 0, length, StandardCharsets.UTF_8));
    if (!encode(name).equals(node)) {
      throw new IllegalArgumentException("Not the node of a lock: '" + node + "'.");
    }
    return name;
  }

  private static boolean isPlain(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '-'
        || c == '.'
        || c == '_'
        || c == '~';
  }
}
