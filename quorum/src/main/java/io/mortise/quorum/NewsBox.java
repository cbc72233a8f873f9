package io.mortise.quorum;

import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * What the session is to be told of its holds, once for all members: what has gone first.
 * Thread-safe.
 */
final class NewsBox {
  private static final int AT_A_TIME = 64;
  private static final int REMEMBERED = 1_024;

  private final ReentrantLock guard = new ReentrantLock();
  private final Map<Long, News> gone = new LinkedHashMap<>();
  private final Map<Long, News> wanted = new LinkedHashMap<>();
  private long next = 1;

  /** What was told to have gone, lately: several members tell it. */
  private final Map<AttemptId, Boolean> told =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<AttemptId, Boolean> eldest) {
          return size() > REMEMBERED;
        }
      };

  /** Some of the news, and whether there is more. */
  record Told(List<Renewal.Item> items, boolean more) {}

  /** Returns whether it is new. */
  boolean add(News news) {
    guard.lock();
    try {
      if (news instanceof News.Gone) {
        if (told.put(news.attempt(), true) != null) {
          return false;
        }
      }
      (news instanceof News.Gone ? gone : wanted).put(next++, news);
      return true;
    } finally {
      guard.unlock();
    }
  }

  /** A hold has ended: that it was wanted is no news any more. */
  void forget(AttemptId ended) {
    guard.lock();
    try {
      wanted.values().removeIf(news -> news.attempt().equals(ended));
    } finally {
      guard.unlock();
    }
  }

  /** Takes out what was seen; returns of which attempts it is known now that they are wanted. */
  List<AttemptId> seen(List<Long> ids) {
    guard.lock();
    try {
      gone.keySet().removeAll(ids);
      List<AttemptId> known = new ArrayList<>();
      for (Long id : ids) {
        News news = wanted.remove(id);
        if (news != null) {
          known.add(news.attempt());
        }
      }
      return known;
    } finally {
      guard.unlock();
    }
  }

  /** Whether it is to be told of any attempt that it is wanted. */
  boolean isWaiting() {
    guard.lock();
    try {
      return !wanted.isEmpty();
    } finally {
      guard.unlock();
    }
  }

  /**
   * What is to be told now.
   *
   * @param standing whether a member still has it that an attempt is wanted
   */
  Told tell(Predicate<AttemptId> standing) {
    guard.lock();
    try {
      wanted.values().removeIf(news -> !standing.test(news.attempt()));
      List<Renewal.Item> items = new ArrayList<>();
      for (Map<Long, News> news : List.of(gone, wanted)) {
        news.forEach(
            (id, item) -> {
              if (items.size() < AT_A_TIME) {
                items.add(new Renewal.Item(id, item));
              }
            });
      }
      return new Told(items, gone.size() + wanted.size() > items.size());
    } finally {
      guard.unlock();
    }
  }
}
