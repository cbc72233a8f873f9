package io.mortise.memcached;

import io.mortise.LockClient;

/** A process that tries a lock of a store once, and prints whether it was granted. */
final class TryOnce {
  private TryOnce() {}

  public static void main(String[] arguments) {
    try (LockClient client = LockClient.connect(arguments[0])) {
      System.out.println(client.lock("once").tryAcquire().isPresent() ? "granted" : "busy");
    } catch (RuntimeException e) {
      System.out.println(e);
    }
  }
}
