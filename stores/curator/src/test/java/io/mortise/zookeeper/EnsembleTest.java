package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testserver.ZooKeeperEnsemble;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three real servers that fail one after the other while locks are in use. */
@SuppressWarnings("try") // Closing may be interrupted.
@Tag("extended")
class EnsembleTest {
  private static final Duration TTL = Duration.ofSeconds(4);

  private static ZooKeeperEnsemble ensemble;

  @BeforeAll
  static void startEnsemble() {
    ensemble = ZooKeeperEnsemble.start();
  }

  @AfterAll
  static void stopEnsemble() {
    ensemble.close();
  }

  private static String url(Scheme scheme, int first) {
    return scheme.url(ensemble.address(first), "/locks-" + scheme.name());
  }

  @Test
  @Timeout(300)
  void givenFaultsOfAllKinds_thenCountersUnderLocksAreExact_beliefsDoNotOverlap_andTokensRise()
      throws Exception {
    List<GuardedCounter> counters = new ArrayList<>();
    for (Scheme scheme : Scheme.values()) {
      GuardedCounter counter = new GuardedCounter(scheme.name());
      counters.add(counter);
      for (int user = 0; user < 3; user++) {
        counter.join(url(scheme, user), TTL, ensemble.address(user));
      }
    }
    awaitProgress(counters, "at first");

    int leader = ensemble.leaderWhenWhole();
    ensemble.member(leader).kill();
    awaitProgress(counters, "without its leader");
    ensemble.member(leader).restart();
    ensemble.awaitWhole();

    int stopped = ensemble.follower();
    ensemble.member(stopped).pause();
    awaitProgress(counters, "while a follower was stopped");
    ensemble.member(stopped).resume();
    ensemble.awaitWhole();

    int cut = ensemble.follower();
    ensemble.cutOff(cut, true);
    awaitProgress(counters, "while a follower was cut off");
    ensemble.cutOff(cut, false);
    ensemble.awaitWhole();

    for (int i = 0; i < ensemble.size(); i++) {
      ensemble.member(i).kill();
      ensemble.member(i).restart();
      ensemble.awaitWhole();
      awaitProgress(counters, "in a rolling restart");
    }

    for (GuardedCounter counter : counters) {
      assertThat(counter.end(ensemble.address())).isEmpty();
      counter.close();
    }
  }

  private static void awaitProgress(List<GuardedCounter> counters, String when) {
    counters.forEach(counter -> counter.awaitProgress(when));
  }

  @Test
  @Timeout(180)
  void
      givenHolderThatIsStopped_whenAnotherHasFollowed_thenItsFencedWriteIsRefused_andANaiveOneIsNot()
          throws Exception {
    Map<Scheme, StoppedHolder> holders = new EnumMap<>(Scheme.class);
    try (ZooKeeper data = TestServer.connect(ensemble.address(), Duration.ofSeconds(30))) {
      for (Scheme scheme : Scheme.values()) {
        String path = "/stopped-" + scheme.name();
        data.create(path, bytes("at first"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        holders.put(
            scheme,
            StoppedHolder.start(
                url(scheme, 0), Duration.ofSeconds(4), ensemble.address(), scheme.name(), path));
      }
      for (StoppedHolder holder : holders.values()) {
        holder.stop();
      }
      for (Scheme scheme : Scheme.values()) {
        String path = "/stopped-" + scheme.name();
        try (LockClient locks =
                LockClient.builder().url(url(scheme, 1)).ttl(TestServer.LONG).build();
            Lease lease = locks.lock(scheme.name()).acquireWithin(TestServer.LONG)) {
          ZkFence.under(data, "/fences").enter(lease).setData(path, bytes("by the next"), -1);
          assertThat(holders.get(scheme).goOn()).containsExactly("told", "refused", "written");
          // We may be connected to another server than before, which has to catch up with its
          // writes first.
          data.sync(path, (code, node, context) -> {}, null);
          assertThat(data.getData(path, false, null)).asString().isEqualTo("naive");
        }
      }
    } finally {
      holders.values().forEach(StoppedHolder::close);
    }
  }

  @Test
  @Timeout(180)
  void givenHolderBehindAFollowerThatIsCutOff_whenAnotherIsGranted_thenItHadStoppedToBelieve()
      throws Exception {
    // Shorter than a follower needs to notice that it is cut off.
    Duration ttl = Duration.ofSeconds(1);
    for (Scheme scheme : Scheme.values()) {
      int leader = ensemble.leaderWhenWhole();
      int follower = ensemble.follower();
      String behind = scheme.url(ensemble.member(follower).address(), "/locks-" + scheme.name());
      try (LockClient holder = LockClient.builder().url(behind).ttl(ttl).build();
          LockClient next = LockClient.builder().url(url(scheme, leader)).ttl(TTL).build()) {
        Lease lease = holder.lock("cut-off").acquireWithin(TestServer.LONG);
        ensemble.cutOff(follower, true);
        try {
          Lease granted = next.lock("cut-off").acquireWithin(TestServer.LONG);
          assertThat(lease.isValid()).isFalse();
          granted.close();
        } finally {
          ensemble.cutOff(follower, false);
        }
        ensemble.awaitWhole();
      }
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
