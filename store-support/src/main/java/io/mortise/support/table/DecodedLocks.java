package io.mortise.support.table;

import io.mortise.LockName;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The documents of locks that this process has encoded lately, by their texts: written or not, a
 * text has one meaning. The next step of such a lock need not decode it. Bounded; thread-safe.
 *
 * <p>Steps share a document and change none. One with a queue is not kept, since other processes
 * write it; nor one with an eviction or an at-least time, which an observation changes.
 */
public final class DecodedLocks {
  private static final int SLOTS = 1_024;

  /** The longest text that is kept, in characters: a lock with many holders has a longer one. */
  private static final int LONGEST = 4_096;

  private final AtomicReferenceArray<@Nullable DecodedLock> slots =
      new AtomicReferenceArray<>(SLOTS);

  private record DecodedLock(String text, LockDocument lock) {}

  /** Encodes a document, which nobody changes any more. */
  public String encode(LockDocument lock) {
    String text = DocumentCodec.encode(lock);
    if (text.length() <= LONGEST && lock.queue.isEmpty() && !lock.isObserved()) {
      slots.set(slot(lock.name), new DecodedLock(text, lock));
    }
    return text;
  }

  /** See {@link DocumentCodec#decode}. */
  public @Nullable LockDocument decode(LockName name, @Nullable String text) {
    DecodedLock known = slots.get(slot(name));
    return known != null && known.text().equals(text) && known.lock().name.equals(name)
        ? known.lock()
        : DocumentCodec.decode(name, text);
  }

  private static int slot(LockName name) {
    return Math.floorMod(name.hashCode(), SLOTS);
  }
}
