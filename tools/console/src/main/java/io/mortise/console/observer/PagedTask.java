package io.mortise.console.observer;

import org.jspecify.annotations.Nullable;

/** Reads a list of the store repeatedly, page by page. */
abstract class PagedTask extends ObserverTask {
  private final Viewers viewers;
  private final long watched;
  private final long idle;
  private @Nullable String cursor;
  private boolean running;
  private boolean never = true;
  private long began;

  /**
   * Creates a task for a list not read yet.
   *
   * @param watched nanoseconds from one begin to the next with viewers
   * @param idle the same without viewers
   */
  PagedTask(Viewers viewers, long watched, long idle) {
    this.viewers = viewers;
    this.watched = watched;
    this.idle = idle;
  }

  /** Called before the first page. */
  abstract void begin();

  /** Reads a page; returns where the next begins, null after the last. */
  abstract @Nullable String page(@Nullable String from, long now);

  /** Called after the last page. */
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
