package io.mortise.redis.cluster;

import java.nio.charset.StandardCharsets;

/**
 * The slot that a key belongs to: CRC16 (XMODEM), as the Redis Cluster specification defines it.
 */
public final class HashSlots {
  /** Number of slots in every cluster. */
  static final int COUNT = 16_384;

  private static final int POLYNOMIAL = 0x1021;

  private HashSlots() {}

  /** The slot of a key: that of its hash tag, if it has one. */
  public static int of(String key) {
    int open = key.indexOf('{');
    int close = open < 0 ? -1 : key.indexOf('}', open + 1);
    String hashed = close > open + 1 ? key.substring(open + 1, close) : key;
    return crc16(hashed.getBytes(StandardCharsets.UTF_8)) % COUNT;
  }

  public static int crc16(byte[] bytes) {
    int crc = 0;
    for (byte one : bytes) {
      crc ^= (one & 0xff) << 8;
      for (int bit = 0; bit < 8; bit++) {
        crc = (crc & 0x8000) == 0 ? crc << 1 : (crc << 1) ^ POLYNOMIAL;
      }
      crc &= 0xffff;
    }
    return crc;
  }
}
