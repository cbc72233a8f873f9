package io.mortise.zookeeper.internal;

import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * News of a session until it is acknowledged. It came by watch events, which are not lost while the
 * session lives: after a new connection, what may have been missed is looked up. Guarded by its
 * session.
 */
public final class Inbox {
  private static final int MOST = 64;

  private final Map<Long, News> gone = new LinkedHashMap<>();
  private final Map<Long, News> rest = new LinkedHashMap<>();
  private long next = 1;

  /** What one renewal tells. */
  public record Told(List<Renewal.Item> items, boolean more) {}

  /** To be told with the next renewal. */
  public void add(News news) {
    (news instanceof News.Gone ? gone : rest).put(next++, news);
  }

  /** A hold has ended: that it was granted, or wanted, is no news any more. */
  public void forget(AttemptId ended) {
    if (!rest.isEmpty()) {
      rest.values().removeIf(news -> news.attempt().equals(ended));
    }
  }

  /** These need not be told again. */
  public void seen(List<Long> ids) {
    if (!ids.isEmpty()) {
      gone.keySet().removeAll(ids);
      rest.keySet().removeAll(ids);
    }
  }

  /** First what has gone. */
  public Told tell() {
    List<Renewal.Item> items = new ArrayList<>();
    take(gone, items);
    take(rest, items);
    return new Told(items, gone.size() + rest.size() > items.size());
  }

  private static void take(Map<Long, News> from, List<Renewal.Item> items) {
    Iterator<Map.Entry<Long, News>> next = from.entrySet().iterator();
    while (items.size() < MOST && next.hasNext()) {
      Map.Entry<Long, News> news = next.next();
      items.add(new Renewal.Item(news.getKey(), news.getValue()));
    }
  }
}
