package io.mortise.admin;

import io.mortise.annotation.Beta;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the locks of a store, and ends holds and waits of other clients. Reading creates and
 * changes nothing. Thread-safe.
 *
 * <p>All but {@link #store()} and {@link #localWaits()} block for the store's answer, for its
 * timeout at most; a call that reads a page blocks for up to 5 s more. They throw {@link
 * IllegalStateException} after {@link io.mortise.LockClient#close()}, {@link
 * io.mortise.StoreUnavailableException} if the store does not answer, {@link
 * IllegalArgumentException} for a name that no lock can have, and {@link io.mortise.LockException}
 * if the thread is interrupted, whose flag stays set.
 */
public interface LockAdmin {
  /** The maximum number of locks on one page. */
  int MAX_PAGE = 1000;

  /**
   * Reads one lock. One round trip.
   *
   * @return empty if the store has no record of it: free, and not used lately
   */
  Optional<LockInfo> find(String name);

  /**
   * Reads one page of the locks, in the detail of the query. A page may have fewer locks than the
   * limit, or none, and still not be the last: only {@link Page#next()} says so, and {@link
   * LockQuery#page} continues there. A page takes several round trips if the store has several
   * servers, or must read other keys. A lock that exists all the time is found, in a summary of
   * Redis perhaps twice.
   *
   * <p>For a prefix, SQL, the in-memory store and a document server read only the locks with that
   * prefix. Redis reads the keys of other locks, but not their state. ZooKeeper, and a database
   * without a dialect, read all names and filter them.
   *
   * @throws IllegalArgumentException if the cursor is not one that this store can read
   */
  Page<LockInfo> list(LockQuery query);

  /**
   * Lists the sessions of processes, also those without holds and waits. An ended session is shown
   * as long as the store remembers it: Redis forgets it at once. A page may have fewer sessions
   * than the limit, or none, and still not be the last.
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
   * All locks that are held, waited for or shut and whose names begin with the prefix. Fetches the
   * first page at once, and the others while the stream is consumed; each lock is a snapshot of its
   * own.
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
   * Ends a hold or wait of any client. One round trip.
   *
   * @param attempt {@link LockParticipant#attempt()}, or the form that messages, logs and tools
   *     show: its session, a dot and a number
   * @return the kind of attempt that was ended
   * @throws IllegalArgumentException if it is neither; nothing is sent then
   * @throws io.mortise.UnsupportedByStoreException if the store cannot evict
   */
  EvictionResult evict(String name, String attempt, Eviction how);

  /**
   * Opens a lock that nobody holds but that is kept shut: by the at-least time of its last hold, or
   * because that holder crashed under one. One round trip. The next waiter gets it; a process that
   * relied on the time is not notified.
   *
   * @return whether it was shut
   * @throws io.mortise.UnsupportedByStoreException if the store cannot evict
   */
  boolean reopen(String name);

  /**
   * The waiting callers of this client, and those of its leases that are in their way. The store,
   * and with it {@link #find} and {@link #list}, sees one attempt for all threads of a client.
   * Other clients and processes are not included. Does not query the store and does not block for
   * it; examines all locks that the client holds or wants.
   */
  @Beta
  default LocalWaits localWaits() {
    return new LocalWaits(List.of());
  }

  /** The properties of the store. Does not block. */
  StoreInfo store();
}
