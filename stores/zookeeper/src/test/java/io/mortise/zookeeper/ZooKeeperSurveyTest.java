package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RecordingConsumer;
import io.mortise.testkit.SessionDriver;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The requests of a survey. {@code -Dmortise.held=10000} for that many locks; the times are
 * printed.
 */
class ZooKeeperSurveyTest {
  private static final int LOCKS = Integer.getInteger("mortise.held", 1_000);
  private static final int AT_ONCE = 500;

  @Test
  @Timeout(300)
  void givenManyHeldLocks_thenASurveyTakesASmallPartOfThePacketsOfALook() throws Exception {
    String root = "/survey-" + System.nanoTime();
    try (PacketCounter packets = new PacketCounter(ZooKeeperUnderTest.server().port());
        LockStore looking =
            // A survey takes 30,000 packets, which a busy machine may not answer within 5 s.
            ZooKeeperStore.open(
                Scheme.ZK.url("127.0.0.1:" + packets.port(), root) + "&timeout=30s");
        LockStore store = ZooKeeperStore.open(Scheme.ZK.url(server(), root))) {
      SessionDriver holder = SessionDriver.open(store, Duration.ofMinutes(10), "holder");
      hold(holder);
      int before = packets.asked();
      long began = System.nanoTime();
      assertThat(inspected(looking)).isEqualTo(LOCKS);
      long lookTime = System.nanoTime() - began;
      int look = packets.asked() - before;
      before = packets.asked();
      began = System.nanoTime();
      assertThat(surveyed(looking, "")).isEqualTo(LOCKS);
      long surveyTime = System.nanoTime() - began;
      int survey = packets.asked() - before;
      before = packets.asked();
      assertThat(surveyed(looking, "held/7")).isBetween(1, LOCKS / 2);
      int prefix = packets.asked() - before;
      System.out.printf(
          "ZooKeeper, %d held: look %d packets, %.2f s; survey %d packets, %.3f s%n",
          LOCKS, look, lookTime / 1e9, survey, surveyTime / 1e9);
      assertThat(survey).isLessThanOrEqualTo(look / 10);
      assertThat(prefix).isLessThanOrEqualTo(survey);
      holder.close();
    }
  }

  private static String server() {
    return ZooKeeperUnderTest.server().address();
  }

  private static void hold(SessionDriver holder) {
    for (int from = 0; from < LOCKS; from += AT_ONCE) {
      RecordingConsumer<Reply> replies = new RecordingConsumer<>();
      int end = Math.min(LOCKS, from + AT_ONCE);
      for (int i = from; i < end; i++) {
        holder
            .session()
            .submit(
                new Request.Acquire(
                    LockName.of("held/" + i),
                    holder.attempt(),
                    Mode.EXCLUSIVE,
                    false,
                    HoldTerms.NONE,
                    1,
                    0,
                    null),
                replies);
      }
      assertThat(replies.await(end - from)).allMatch(Reply.Granted.class::isInstance);
    }
  }

  private static int surveyed(LockStore store, String prefix) {
    int found = 0;
    String cursor = null;
    do {
      Page<LockInfo> page =
          BoundedWait.join(
              store.inspect(LockQuery.beginningWith(prefix).page(cursor, 1000).summarized()));
      found += page.items().size();
      cursor = page.next();
    } while (cursor != null);
    return found;
  }

  private static int inspected(LockStore store) {
    int found = 0;
    String cursor = null;
    do {
      Page<LockInfo> page = BoundedWait.join(store.inspect(LockQuery.all().page(cursor, 200)));
      found += page.items().size();
      cursor = page.next();
    } while (cursor != null);
    return found;
  }
}
