package io.mortise.admin;

import io.mortise.annotation.Beta;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the locks of a store, and ends holds and waits of others. Looking creates and changes
 * nothing. Thread-safe.
 *
 * <p>All but {@link #store()} and {@link #localWaits()} block for the store's answer, for its
 * timeout at most; a call that reads a page blocks for up to 5 s more. They throw {@link
 * IllegalStateException} after {@link io.mortise.LockClient#close()}, {@link
 * io.mortise.StoreUnavailableException} if the store does not answer, {@link
 * IllegalArgumentException} for a name that no lock can have, and {@link io.mortise.LockException}
 * if the thread is interrupted, whose flag stays set.
 */
public interface LockAdmin {
  /** The most locks of one page. */
  int MAX_PAGE = 1000;

  /**
   * Looks at one lock. One round trip.
   *
   * @return empty if the store knows nothing of it: free, and not used lately
   */
  Optional<LockInfo> find(String name);

  /**
   * Looks at some of the locks, a page at a time, in as much detail as the query says. A page may
   * have fewer locks than the limit, or none, and still not be the last: only {@link Page#next()}
   * tells, and {@link LockQuery#page} goes on there. A page takes several round trips where the
   * store has several servers, or must look at other keys. A lock that is there all the time is
   * found, in a summary of Redis perhaps twice.
   *
   * <p>Of a prefix SQL, the store in memory and a server of documents read no other locks. Redis
   * passes over the names of others and reads only their keys. ZooKeeper, and a database without a
   * dialect, read all names, and look at these.
   *
   * @throws IllegalArgumentException if the cursor is not one that this store can read
   */
  Page<LockInfo> list(LockQuery query);

  /**
   * Lists the sessions of processes, also of those that hold and wait for nothing. A session that
   * is over is shown for as long as the store remembers it: Redis forgets it at once. A page may
   * have fewer sessions than the limit, or none, and still not be the last.
   *
   * @param cursor {@link Page#next()} of the page before; null for the first
   * @param limit the most sessions of the page
   * @throws IllegalArgumentException if the limit is not within 1 and {@link #MAX_PAGE}, or the
   *     cursor is not one that this store can read
   * @throws io.mortise.UnsupportedByStoreException if the store cannot list sessions, or keeps none
   */
  @Beta
  Page<SessionInfo> sessions(@Nullable String cursor, int limit);

  /**
   * All locks that are held, waited for or shut and whose names begin so. Fetches the first page at
   * once, and the others while the stream is consumed; each lock is a snapshot of its own.
   */
  default Stream<LockInfo> stream(String prefix) {
    LockQuery all = LockQuery.beginningWith(prefix).page(null, MAX_PAGE);
    return Stream.iterate(
            Optional.of(list(all)),
            Optional::isPresent,
            page -> page.map(Page::next).map(following -> list(all.page(following, MAX_PAGE))))
        .flatMap(Optional::stream)
        .flatMap(page -> page.items().stream());
  }

  /**
   * Ends the hold or wait of somebody. One round trip.
   *
   * @param attempt {@link LockParticipant#attempt()}, or the form that messages, logs and tools
   *     show: its session, a dot and a number
   * @return what was ended
   * @throws IllegalArgumentException if it is neither; nothing is sent then
   * @throws io.mortise.UnsupportedByStoreException if the store cannot evict
   */
  EvictionResult evict(String name, String attempt, Eviction how);

  /**
   * Opens a lock that nobody holds but that is kept shut: by the at-least time of its last hold, or
   * because that holder crashed under one. One round trip. The next waiter gets it; a process that
   * relied on the time is not told.
   *
   * @return whether it was shut
   * @throws io.mortise.UnsupportedByStoreException if the store cannot evict
   */
  boolean reopen(String name);

  /**
   * Which callers of this client wait, and which of its leases are in their way. The store, and
   * with it {@link #find} and {@link #list}, sees one attempt for all threads of a client. Other
   * clients of the process, and other processes, are not seen here. Does not ask the store, and
   * does not block for it; looks at all locks that the client holds or wants.
   */
  @Beta
  default LocalWaits localWaits() {
    return new LocalWaits(List.of());
  }

  /** What the store is and can do. Does not block. */
  StoreInfo store();
}
