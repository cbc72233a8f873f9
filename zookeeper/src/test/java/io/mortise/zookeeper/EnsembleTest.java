package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.Waits;
import io.mortise.testkit.server.ZooKeeperEnsemble;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three real servers, of which one after the other is struck while locks are in use. */
@SuppressWarnings("try") // closing may be interrupted
class EnsembleTest {
  private static final List<String> SCHEMES = List.of("zk", "zk+curator");
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

  private static String url(String scheme, int first) {
    return scheme + "://" + ensemble.address(first) + "/locks?tick=100ms";
  }

  @Test
  @Timeout(300)
  void givenFaultsOfAllKinds_thenCountersUnderLocksAreExact_beliefsDoNotOverlap_andTokensRise()
      throws Exception {
    List<GuardedCounter> counters =
        SCHEMES.stream().map(scheme -> new GuardedCounter(scheme.replace('+', '-'))).toList();
    for (int i = 0; i < SCHEMES.size(); i++) {
      for (int user = 0; user < 3; user++) {
        counters.get(i).join(url(SCHEMES.get(i), user), TTL, ensemble.address(user));
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
    try (ZooKeeper data = connect()) {
      for (String scheme : SCHEMES) {
        String lock = "stopped-" + scheme.replace('+', '-');
        String path = "/" + lock;
        data.create(path, bytes("at first"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        try (StoppedHolder holder =
                StoppedHolder.start(
                    url(scheme, 0), Duration.ofSeconds(4), ensemble.address(), lock, path);
            LockClient locks = LockClient.builder().url(url(scheme, 1)).ttl(TTL).build()) {
          holder.stop();
          try (Lease lease = locks.lock(lock).acquireWithin(Waits.scaled(Duration.ofSeconds(60)))) {
            ZkFence.under(data, "/fences").enter(lease).setData(path, bytes("by the next"), -1);
            assertThat(holder.goOn()).containsExactly("refused", "written");
            assertThat(data.getData(path, false, null)).asString().isEqualTo("naive");
          }
        }
      }
    }
  }

  @Test
  @Timeout(180)
  void givenHolderBehindAFollowerThatIsCutOff_whenAnotherIsGranted_thenItHadStoppedToBelieve()
      throws Exception {
    // Shorter than what it takes a follower to find out that it is cut off.
    Duration ttl = Duration.ofSeconds(1);
    for (String scheme : SCHEMES) {
      int leader = ensemble.leaderWhenWhole();
      int follower = ensemble.follower();
      String behind = scheme + "://" + ensemble.member(follower).address() + "/locks?tick=100ms";
      try (LockClient holder = LockClient.builder().url(behind).ttl(ttl).build();
          LockClient next = LockClient.builder().url(url(scheme, leader)).ttl(TTL).build()) {
        Lease lease = holder.lock("cut-off").acquireWithin(Waits.scaled(Duration.ofSeconds(60)));
        ensemble.cutOff(follower, true);
        try {
          Lease granted = next.lock("cut-off").acquireWithin(Waits.scaled(Duration.ofSeconds(60)));
          assertThat(lease.isValid()).isFalse();
          granted.close();
        } finally {
          ensemble.cutOff(follower, false);
        }
        ensemble.awaitWhole();
      }
    }
  }

  private static ZooKeeper connect() throws Exception {
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper client =
        new ZooKeeper(
            ensemble.address(),
            30_000,
            event -> {
              if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
              }
            });
    assertThat(connected.await(60, TimeUnit.SECONDS)).isTrue();
    return client;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
