package io.mortise.zookeeper.curator;

import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a session has not acknowledged yet. ZooKeeper tells watchers, and each once; so the news is
 * kept on this side until the engine has seen it. Guarded by its session.
 */
final class NewsBox {
  private static final int STEP = 64;

  private final Map<Long, News> news = new LinkedHashMap<>();
  private long last;

  void add(News item) {
    news.put(++last, item);
  }

  /** What was granted or wanted is no news once it has ended. */
  void forget(AttemptId attempt) {
    news.values().removeIf(item -> !(item instanceof News.Gone) && item.attempt().equals(attempt));
  }

  Renewal.Renewed tell(List<Long> seen) {
    news.keySet().removeAll(seen);
    List<Renewal.Item> told = new ArrayList<>();
    for (boolean gone : new boolean[] {true, false}) {
      for (Map.Entry<Long, News> entry : news.entrySet()) {
        if (told.size() < STEP && entry.getValue() instanceof News.Gone == gone) {
          told.add(new Renewal.Item(entry.getKey(), entry.getValue()));
        }
      }
    }
    return new Renewal.Renewed(0, told, news.size() > told.size());
  }
}
