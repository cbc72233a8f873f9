package io.mortise.console.observer;

import org.jspecify.annotations.Nullable;

/** Goes through a list of the store, a page at a time, and after a while again. */
abstract class PagedTask extends ObserverTask {
  private final Viewers viewers;
  private final long watched;
  private final long idle;
  private @Nullable String cursor;
  private boolean running;
  private boolean never = true;
  private long began;

  /**
   * A list that has not been read.
   *
   * @param watched nanoseconds from one begin to the next while somebody watches
   * @param idle the same while nobody does
   */
  PagedTask(Viewers viewers, long watched, long idle) {
    this.viewers = viewers;
    this.watched = watched;
    this.idle = idle;
  }

  /** The first page is about to be read. */
  abstract void begin();

  /** Reads a page; returns where the next begins, null after the last. */
  abstract @Nullable String page(@Nullable String from, long now);

  /** The last page was read. */
  abstract void end(long began);

  @Override
  final long dueIn(long now) {
    if (unsupported) {
      return Long.MAX_VALUE;
    }
    return running || never ? 0 : began + (viewers.isAnybodyThere() ? watched : idle) - now;
  }

  @Override
  final void run(long now) {
    if (!running) {
      running = true;
      cursor = null;
      began = now;
      begin();
    }
    cursor = page(cursor, now);
    if (cursor == null) {
      running = false;
      never = false;
      end(began);
    }
  }

  @Override
  final void restart() {
    running = false;
    never = true;
  }
}
