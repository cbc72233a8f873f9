package io.mortise.testkit.contract.client;

import io.mortise.event.LockListener;
import io.mortise.testkit.BoundedWait;
import java.util.ArrayList;
import java.util.List;

/** Records all events of a client, in order. Thread-safe. */
final class RecordingListener implements LockListener {
  private final List<Record> events = new ArrayList<>();

  private synchronized void add(Record event) {
    events.add(event);
  }

  /** All events so far. */
  synchronized List<Record> all() {
    return List.copyOf(events);
  }

  /** All events so far of one kind. */
  <T extends Record> List<T> all(Class<T> kind) {
    return all().stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  /**
   * Waits for so many events of one kind and returns all so far. Blocks.
   *
   * @throws AssertionError if there are fewer within {@link BoundedWait#ANSWER}
   */
  <T extends Record> List<T> await(Class<T> kind, int count) {
    BoundedWait.until(
        BoundedWait.ANSWER,
        count + " times " + kind.getSimpleName() + " was told",
        () -> all(kind).size() >= count);
    return all(kind);
  }

  @Override
  public void onAcquireStarted(AcquireStarted event) {
    add(event);
  }

  @Override
  public void onAcquireQueued(AcquireQueued event) {
    add(event);
  }

  @Override
  public void onAcquireEnded(AcquireEnded event) {
    add(event);
  }

  @Override
  public void onLeaseEnded(LeaseEnded event) {
    add(event);
  }

  @Override
  public void onSessionRenewed(SessionRenewed event) {
    add(event);
  }

  @Override
  public void onSessionChanged(SessionChanged event) {
    add(event);
  }
}
