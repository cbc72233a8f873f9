package io.mortise.support.partition;

import io.mortise.LockName;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Assigns names to servers: a name belongs to the server with the highest score
 * (highest-random-weight hashing). If a server leaves, only its own names move.
 *
 * <p>{@code score(name, id) = mix(fnv1a64(utf8(name)) xor fnv1a64(utf8(id)))}, compared as unsigned
 * numbers; {@code mix} is the 64-bit finalizer of MurmurHash3. The formula is part of the
 * compatibility promise: clients of other versions must find the same server. Test vectors are in
 * {@code RendezvousHashTest}.
 */
public final class RendezvousHash {
  private static final long OFFSET = 0xcbf29ce484222325L;
  private static final long PRIME = 0x100000001b3L;

  private final long[] ids;

  /** A hash over these servers, in any order. */
  public RendezvousHash(List<String> ids) {
    this.ids = ids.stream().mapToLong(id -> fnv1a64(id.getBytes(StandardCharsets.UTF_8))).toArray();
  }

  /** The index of the server with this name. */
  public int of(LockName name) {
    long hash = fnv1a64(name.utf8());
    int best = 0;
    long highest = mix(hash ^ ids[0]);
    for (int i = 1; i < ids.length; i++) {
      long score = mix(hash ^ ids[i]);
      if (Long.compareUnsigned(score, highest) > 0) {
        best = i;
        highest = score;
      }
    }
    return best;
  }

  static long fnv1a64(byte[] bytes) {
    long hash = OFFSET;
    for (byte b : bytes) {
      hash = (hash ^ (b & 0xff)) * PRIME;
    }
    return hash;
  }

  static long mix(long bits) {
    long mixed = (bits ^ (bits >>> 33)) * 0xff51afd7ed558ccdL;
    mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return mixed ^ (mixed >>> 33);
  }
}
