package io.mortise.internal.queue;

import io.mortise.spi.Request;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A short lock over passive state, and the calls that follow from a change of that state. No thread
 * waits, does I/O or calls a sink, a listener or a store under the lock: calls are queued under it
 * and made after it is released.
 *
 * <p><b>Two queues.</b> Calls of {@link #afterUnlock} are made by the thread that queued them, in
 * the order of queueing; calls of two threads may overlap. Calls of {@link #send} are made by one
 * thread at a time, in the order of a {@link RequestQueue}. A thread that finds no other sending
 * sends for all others until nothing is left. A thread makes its own calls before it sends.
 *
 * <p><b>Locking.</b> Any thread may lock. {@link #afterUnlock} and {@link #send} need the lock
 * held. Calls are made without this lock, and may lock again, queue and send. The lock is
 * re-entrant: calls are made after its last release.
 *
 * <p><b>Failures.</b> After a call that throws, the others are still made. {@link #unlock} throws
 * the first failure when all calls were made; later ones are suppressed in it.
 */
public class OutboxLock {
  private static final Runnable[] NONE = {};

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock.
  private final ArrayDeque<Runnable> calls = new ArrayDeque<>(1);
  private final RequestQueue<Runnable> outbox = new RequestQueue<>();
  private boolean sending;

  /** A free lock without queued calls. */
  public OutboxLock() {}

  public final void lock() {
    lock.lock();
  }

  /** Releases the lock, and makes the calls that were queued under it. */
  public void unlock() {
    if (lock.getHoldCount() > 1) {
      lock.unlock();
      return;
    }
    Runnable[] due = NONE;
    if (!calls.isEmpty()) {
      due = calls.toArray(NONE);
      calls.clear();
    }
    boolean send = !sending && !outbox.isEmpty();
    sending |= send;
    lock.unlock();
    makeCalls(due, send);
  }

  /** Changes the state under the lock, then makes the calls queued by the change. */
  public final void run(Runnable change) {
    lock();
    try {
      change.run();
    } finally {
      unlock();
    }
  }

  public final <T> T get(Supplier<T> reading) {
    lock();
    try {
      return reading.get();
    } finally {
      unlock();
    }
  }

  /** Queues a call that this thread makes after it has released the lock. Called under the lock. */
  public final void afterUnlock(Runnable call) {
    calls.add(call);
  }

  /** Queues a call to be made without the lock, after earlier sends. Called under the lock. */
  public final void send(Runnable call) {
    outbox.add(null, call);
  }

  /** As {@link #send(Runnable)}, for a call that submits a request: acquires go last. */
  public final void send(Request request, Runnable call) {
    outbox.add(request, call);
  }

  private void makeCalls(Runnable[] due, boolean send) {
    Throwable failure = null;
    for (Runnable call : due) {
      failure = call(call, failure);
    }
    for (Runnable next = send ? nextToSend() : null; next != null; next = nextToSend()) {
      failure = call(next, failure);
    }
    if (failure instanceof Error error) {
      throw error;
    } else if (failure instanceof RuntimeException exception) {
      throw exception;
    }
  }

  private static @Nullable Throwable call(Runnable call, @Nullable Throwable before) {
    try {
      call.run();
    } catch (RuntimeException | Error e) {
      if (before == null) {
        return e;
      } else if (before != e) {
        before.addSuppressed(e);
      }
    }
    return before;
  }

  private @Nullable Runnable nextToSend() {
    lock.lock();
    try {
      Runnable next = outbox.poll();
      sending = next != null;
      return next;
    } finally {
      lock.unlock();
    }
  }
}
