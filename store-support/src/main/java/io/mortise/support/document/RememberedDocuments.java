package io.mortise.support.document;

import io.mortise.internal.queue.BoundedMap;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The documents as this process wrote, read or was told them last. Any of them may be outdated: a
 * write compares the version. Thread-safe.
 */
final class RememberedDocuments {
  private static final int MOST = 10_000;

  /**
   * A longer text of a lock has a queue, which other processes write. A session with many notes
   * gets more of them from the same process.
   */
  private static final int LONGEST = 4_096;

  /** Locks that this process holds, and that many others wait for. */
  private static final int MOST_QUEUES = 64;

  private static final int LONGEST_QUEUE = 131_072;

  private final ReentrantLock guard = new ReentrantLock();

  // Guarded by the lock.
  private final Map<String, VersionedText> documents = BoundedMap.ofLastUsed(MOST);
  private final Map<String, VersionedText> queues = BoundedMap.ofLastUsed(MOST_QUEUES);

  @Nullable VersionedText get(String key) {
    guard.lock();
    try {
      VersionedText found = documents.get(key);
      return found == null ? queues.get(key) : found;
    } finally {
      guard.unlock();
    }
  }

  /** Remembers a document; forgets it if it is null or long. */
  void put(String key, @Nullable VersionedText stands) {
    guard.lock();
    try {
      queues.remove(key);
      if (stands == null || isLong(key, stands.text())) {
        documents.remove(key);
      } else {
        documents.put(key, stands);
      }
    } finally {
      guard.unlock();
    }
  }

  /** Remembers a lock that this process holds, also with its queue. */
  void putHeld(String key, VersionedText stands) {
    put(key, stands);
    String text = stands.text();
    if (text == null || !isLong(key, text) || text.length() > LONGEST_QUEUE) {
      return;
    }
    guard.lock();
    try {
      queues.put(key, stands);
    } finally {
      guard.unlock();
    }
  }

  /** Remembers a document that a watch has told, unless a later one is known. */
  void putTold(String key, VersionedText stands) {
    guard.lock();
    try {
      VersionedText known = documents.get(key);
      if (known == null || !isOlder(stands.version(), known.version())) {
        put(key, stands);
      }
    } finally {
      guard.unlock();
    }
  }

  /** Whether both are numbers, and the first is less. Other versions have no order. */
  private static boolean isOlder(String version, String known) {
    try {
      return Long.parseLong(version) < Long.parseLong(known);
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private static boolean isLong(String key, @Nullable String text) {
    return text != null && text.length() > LONGEST && !key.startsWith(SessionDocuments.PREFIX);
  }
}
