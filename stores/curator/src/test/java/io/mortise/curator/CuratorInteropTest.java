package io.mortise.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.DistributedReadWriteLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.testkit.BoundedWait;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Real clients of Curator and ours exclude each other on the same path. */
@SuppressWarnings("try") // Leases exist to be held.
class CuratorInteropTest {
  private static final Duration BRIEF = Duration.ofMillis(200);

  private final MixedFleet mixedFleet = new MixedFleet();

  @AfterEach
  void closeFleet() throws Exception {
    mixedFleet.close();
  }

  @Test
  void givenResultOfOnceWhereNothingWasBefore_thenItIsNoLock() throws Exception {
    String url =
        "zk+curator://"
            + MixedFleet.server().address()
            + "?tick=100ms&base=/once/"
            + UUID.randomUUID();
    try (LockClient client = LockClient.connect(url)) {
      assertThat(client.once("a/b").run(lease -> "done").ranHere()).isTrue();
      assertThat(client.once("a/b").result()).isPresent();
      assertThat(
              client.admin().list(LockQuery.beginningWith("mortise-facts").page(null, 10)).items())
          .isEmpty();
      assertThat(client.admin().find("mortise-facts/texts")).isEmpty();
      assertThatThrownBy(() -> client.lock("mortise-facts/texts").acquireWithin(BRIEF))
          .hasMessageContaining("Use another name");
    }
  }

  private InterProcessMutex mutex() {
    return new InterProcessMutex(mixedFleet.curator(), mixedFleet.path("job/a"));
  }

  /** For a lock that is not free. */
  private static boolean acquired(InterProcessMutex mutex) throws Exception {
    return mutex.acquire(BRIEF.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** For a free lock. */
  private static void acquire(InterProcessMutex mutex) throws Exception {
    assertThat(mutex.acquire(MixedFleet.LONG.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
  }

  @Test
  void givenMutexOfEitherSide_thenTheOtherIsKeptOut_andNoNodeIsLeft() throws Exception {
    InterProcessMutex curator = mutex();
    DistributedLock mortise = mixedFleet.mortise().lock("job/a");

    curator.acquire();
    assertThat(mortise.tryAcquire()).isEmpty();
    assertThat(mortise.tryAcquire(BRIEF)).isEmpty();
    curator.release();

    try (Lease lease = mortise.acquireWithin(MixedFleet.LONG)) {
      assertThat(acquired(curator)).isFalse();
      assertThat(curator.getParticipantNodes()).hasSize(1);
      assertThat(lease.token()).isPositive();
    }
    acquire(curator);
    curator.release();
    assertThat(mixedFleet.nodes(mixedFleet.path("job/a"))).isEmpty();
  }

  @Test
  void givenMixedQueue_thenAllAreServedInTheOrderInWhichTheyCame() throws Exception {
    InterProcessMutex holder = mutex();
    holder.acquire();
    List<String> served = Collections.synchronizedList(new ArrayList<>());
    List<Future<?>> waiting = new ArrayList<>();
    List<LockClient> clients = List.of(mixedFleet.mortise(), mixedFleet.mortise());
    for (int i = 0; i < 4; i++) {
      String name = (i % 2 == 0 ? "mortise" : "curator") + i;
      InterProcessMutex curator = mutex();
      DistributedLock mortise = clients.get(i / 2).lock("job/a");
      boolean ours = i % 2 == 0;
      waiting.add(
          mixedFleet.start(
              () -> {
                if (ours) {
                  try (Lease lease = mortise.acquireWithin(MixedFleet.LONG)) {
                    served.add(name);
                  }
                } else {
                  curator.acquire();
                  served.add(name);
                  curator.release();
                }
                return null;
              }));
      mixedFleet.awaitNodes(mixedFleet.path("job/a"), i + 2);
    }
    holder.release();
    for (Future<?> one : waiting) {
      MixedFleet.get(one);
    }
    assertThat(served).containsExactly("mortise0", "curator1", "mortise2", "curator3");
    assertThat(mixedFleet.nodes(mixedFleet.path("job/a"))).isEmpty();
  }

  @Test
  void givenTokensOfBothSides_thenTheyRiseInTheOrderOfTheirHolds() throws Exception {
    InterProcessMutex curator = mutex();
    DistributedLock mortise = mixedFleet.mortise().lock("job/a");
    List<Long> tokens = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      try (Lease lease = mortise.acquireWithin(MixedFleet.LONG)) {
        tokens.add(lease.token());
      }
      curator.acquire();
      String node = curator.getParticipantNodes().iterator().next();
      tokens.add(CuratorTokens.first(mixedFleet.looking().checkExists().forPath(node).getCzxid()));
      curator.release();
    }
    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void givenRestartOfTheServer_thenTheHolderHolds_andTheWaiterOfTheOtherSideWaitsOn()
      throws Exception {
    InterProcessMutex curator = mutex();
    DistributedLock mortise = mixedFleet.mortise().lock("job/a");

    curator.acquire();
    Future<Lease> ours = mixedFleet.start(() -> mortise.acquireWithin(MixedFleet.LONG));
    mixedFleet.awaitNodes(mixedFleet.path("job/a"), 2);
    MixedFleet.server().restart();
    mixedFleet.awaitNodes(mixedFleet.path("job/a"), 2);
    assertThat(ours).isNotDone();
    curator.release();
    Lease lease = MixedFleet.get(ours);

    Future<Boolean> theirs =
        mixedFleet.start(
            () -> {
              curator.acquire();
              curator.release();
              return true;
            });
    mixedFleet.awaitNodes(mixedFleet.path("job/a"), 2);
    MixedFleet.server().restart();
    mixedFleet.awaitNodes(mixedFleet.path("job/a"), 2);
    assertThat(lease.isValid()).isTrue();
    assertThat(theirs).isNotDone();
    lease.close();
    assertThat(MixedFleet.get(theirs)).isTrue();
    assertThat(mixedFleet.nodes(mixedFleet.path("job/a"))).isEmpty();
  }

  @Test
  void givenSessionThatExpires_thenTheOtherSideIsServed_andOurHolderIsTold() throws Exception {
    InterProcessMutex curator = mutex();
    DistributedLock mortise = mixedFleet.mortise().lock("job/a");

    curator.acquire();
    Future<Lease> ours = mixedFleet.start(() -> mortise.acquireWithin(MixedFleet.LONG));
    mixedFleet.awaitNodes(mixedFleet.path("job/a"), 2);
    mixedFleet.expireOwnerOf(curator.getParticipantNodes().iterator().next());
    Lease lease = MixedFleet.get(ours);

    InterProcessMutex next = mutex();
    Future<Boolean> theirs =
        mixedFleet.start(
            () -> {
              next.acquire();
              return true;
            });
    mixedFleet.awaitNodes(mixedFleet.path("job/a"), 2);
    mixedFleet.expireOwnerOf(next.getParticipantNodes().iterator().next());
    assertThat(MixedFleet.get(theirs)).isTrue();
    BoundedWait.until(
        MixedFleet.LONG, "the lease was lost", () -> lease.state() == Lease.State.LOST);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    assertThat(mortise.tryAcquire()).isEmpty();
  }

  @Test
  void givenGuardedCounter_whenTwoOfEachSideIncrementIt_thenNoneIsLost() throws Exception {
    int rounds = 25;
    int[] counter = {0};
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Runnable increment =
        () -> {
          most.accumulateAndGet(inside.incrementAndGet(), Math::max);
          int before = counter[0];
          BoundedWait.pass(Duration.ofMillis(1));
          counter[0] = before + 1;
          inside.decrementAndGet();
        };
    List<Future<?>> users = new ArrayList<>();
    for (int user = 0; user < 2; user++) {
      DistributedLock mortise = mixedFleet.mortise().lock("job/a");
      InterProcessMutex curator = mutex();
      users.add(
          mixedFleet.start(
              () -> {
                for (int i = 0; i < rounds; i++) {
                  try (Lease lease = mortise.acquireWithin(MixedFleet.LONG)) {
                    increment.run();
                  }
                }
                return null;
              }));
      users.add(
          mixedFleet.start(
              () -> {
                for (int i = 0; i < rounds; i++) {
                  curator.acquire();
                  increment.run();
                  curator.release();
                }
                return null;
              }));
    }
    for (Future<?> user : users) {
      MixedFleet.get(user);
    }
    assertThat(counter[0]).isEqualTo(4 * rounds);
    assertThat(most).hasValue(1);
    assertThat(mixedFleet.nodes(mixedFleet.path("job/a"))).isEmpty();
  }

  @Test
  void givenThreadsOfOurProcessThatContend_whenCuratorWaits_thenItIsServedSoon() throws Exception {
    DistributedLock mortise = mixedFleet.mortise().lock("job/a");
    AtomicInteger passes = new AtomicInteger();
    List<Future<?>> users = new ArrayList<>();
    AtomicBoolean stop = new AtomicBoolean();
    for (int i = 0; i < 3; i++) {
      users.add(
          mixedFleet.start(
              () -> {
                while (!stop.get()) {
                  try (Lease lease = mortise.acquireWithin(MixedFleet.LONG)) {
                    passes.incrementAndGet();
                  }
                }
                return null;
              }));
    }
    BoundedWait.until(MixedFleet.LONG, "the lock went from hand to hand", () -> passes.get() > 500);
    InterProcessMutex curator = mutex();
    for (int i = 0; i < 5; i++) {
      assertThat(curator.acquire(MixedFleet.LONG.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
      curator.release();
    }
    stop.set(true);
    for (Future<?> user : users) {
      MixedFleet.get(user);
    }
  }

  @Test
  void givenReadersAndWritersOfBothSides_thenTheyShareAndExcludeAsCuratorHasIt() throws Exception {
    CuratorFramework client = mixedFleet.curator();
    InterProcessReadWriteLock curator =
        new InterProcessReadWriteLock(client, mixedFleet.path("doc"));
    DistributedReadWriteLock mortise = mixedFleet.mortise("readwrite").readWriteLock("doc");

    curator.readLock().acquire();
    Lease reader = mortise.readLock().acquireWithin(MixedFleet.LONG);
    assertThat(mortise.writeLock().tryAcquire(BRIEF)).isEmpty();
    curator.readLock().release();
    assertThat(acquired(curator.writeLock())).isFalse();
    reader.close();

    curator.writeLock().acquire();
    assertThat(mortise.readLock().tryAcquire(BRIEF)).isEmpty();
    // A reader inside its writer: it holds on after the writer's release.
    curator.readLock().acquire();
    Future<Lease> readers =
        mixedFleet.start(() -> mortise.readLock().acquireWithin(MixedFleet.LONG));
    mixedFleet.awaitNodes(mixedFleet.path("doc"), 3);
    Future<Lease> writers =
        mixedFleet.start(() -> mortise.writeLock().acquireWithin(MixedFleet.LONG));
    mixedFleet.awaitNodes(mixedFleet.path("doc"), 4);
    curator.writeLock().release();
    MixedFleet.get(readers).close();
    BoundedWait.pass(BRIEF);
    assertThat(writers).isNotDone();
    curator.readLock().release();
    Lease writer = MixedFleet.get(writers);

    assertThat(curator.readLock().acquire(BRIEF.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
    writer.downgrade();
    assertThat(curator.readLock().acquire(MixedFleet.LONG.toMillis(), TimeUnit.MILLISECONDS))
        .isTrue();
    assertThat(acquired(curator.writeLock())).isFalse();
    curator.readLock().release();
    writer.close();
    acquire(curator.writeLock());
    curator.writeLock().release();
    assertThat(mixedFleet.nodes(mixedFleet.path("doc"))).isEmpty();
  }

  @Test
  void givenSemaphoreOfBothSides_thenPermitsAreCountedTogether() throws Exception {
    InterProcessSemaphoreV2 curator =
        new InterProcessSemaphoreV2(mixedFleet.curator(), mixedFleet.path("pool"), 3);
    LockClient client = mixedFleet.mortise();
    DistributedLock one = client.semaphore("pool", 3).permits(1);
    DistributedLock two = client.semaphore("pool", 3).permits(2);

    var theirs = curator.acquire();
    Lease ours = two.acquireWithin(MixedFleet.LONG);
    assertThat(curator.acquire(BRIEF.toMillis(), TimeUnit.MILLISECONDS)).isNull();
    assertThat(one.tryAcquire()).isEmpty();
    assertThat(curator.getParticipantNodes()).hasSize(3);

    Future<Lease> waiting = mixedFleet.start(() -> two.acquireWithin(MixedFleet.LONG));
    mixedFleet.awaitNodes(mixedFleet.path("pool/leases"), 5);
    curator.returnLease(theirs);
    mixedFleet.awaitNodes(mixedFleet.path("pool/leases"), 4);
    assertThat(waiting).isNotDone();
    ours.close();
    Lease next = MixedFleet.get(waiting);
    var again = curator.acquire(MixedFleet.LONG.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(again).isNotNull();
    curator.returnLease(again);
    next.close();
    assertThat(mixedFleet.nodes(mixedFleet.path("pool/leases"))).isEmpty();
    assertThat(mixedFleet.nodes(mixedFleet.path("pool/locks"))).isEmpty();
  }

  @Test
  void givenReadersWritersAndPermitsInUseByBothSides_thenNoneIsInsideWhoMustNotBe()
      throws Exception {
    int rounds = 12;
    AtomicInteger readers = new AtomicInteger();
    AtomicInteger writers = new AtomicInteger();
    AtomicInteger permits = new AtomicInteger();
    Queue<String> wrong = new ConcurrentLinkedQueue<>();
    Runnable read =
        () -> {
          readers.incrementAndGet();
          BoundedWait.pass(Duration.ofMillis(1));
          if (writers.get() > 0) {
            wrong.add("a reader beside a writer");
          }
          readers.decrementAndGet();
        };
    Runnable write =
        () -> {
          if (writers.incrementAndGet() > 1 || readers.get() > 0) {
            wrong.add("a writer beside another, or a reader");
          }
          BoundedWait.pass(Duration.ofMillis(1));
          writers.decrementAndGet();
        };
    Runnable use =
        () -> {
          if (permits.incrementAndGet() > 2) {
            wrong.add("too many permits");
          }
          BoundedWait.pass(Duration.ofMillis(1));
          permits.decrementAndGet();
        };
    List<Future<?>> users = new ArrayList<>();
    for (int user = 0; user < 2; user++) {
      LockClient mortise = mixedFleet.mortise("readwrite");
      CuratorFramework client = mixedFleet.curator();
      InterProcessReadWriteLock curator =
          new InterProcessReadWriteLock(client, mixedFleet.path("doc"));
      InterProcessSemaphoreV2 pool =
          new InterProcessSemaphoreV2(client, mixedFleet.path("pool"), 2);
      users.add(
          mixedFleet.start(
              () -> {
                for (int i = 0; i < rounds; i++) {
                  curator.readLock().acquire();
                  read.run();
                  curator.readLock().release();
                  curator.writeLock().acquire();
                  write.run();
                  curator.writeLock().release();
                  var lease = pool.acquire();
                  use.run();
                  pool.returnLease(lease);
                }
                return null;
              }));
      users.add(
          mixedFleet.start(
              () -> {
                for (int i = 0; i < rounds; i++) {
                  inside(mortise.readWriteLock("doc").readLock(), read);
                  inside(mortise.readWriteLock("doc").writeLock(), write);
                  inside(mortise.semaphore("pool", 2).permits(1), use);
                }
                return null;
              }));
    }
    for (Future<?> user : users) {
      MixedFleet.get(user);
    }
    assertThat(wrong).isEmpty();
    assertThat(mixedFleet.nodes(mixedFleet.path("doc"))).isEmpty();
    assertThat(mixedFleet.nodes(mixedFleet.path("pool/leases"))).isEmpty();
    assertThat(mixedFleet.nodes(mixedFleet.path("pool/locks"))).isEmpty();
  }

  private static void inside(DistributedLock lock, Runnable task) throws InterruptedException {
    try (Lease lease = lock.acquireWithin(MixedFleet.LONG)) {
      task.run();
    }
  }

  @Test
  void givenPathThatIsUsedOtherwise_thenItIsRefused_andNothingIsLeft() throws Exception {
    InterProcessReadWriteLock curator =
        new InterProcessReadWriteLock(mixedFleet.curator(), mixedFleet.path("job/a"));
    curator.readLock().acquire();
    DistributedLock mortise = mixedFleet.mortise().lock("job/a");
    assertThatThrownBy(() -> mortise.tryAcquire(MixedFleet.LONG))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("recipe=readwrite");
    assertThat(mixedFleet.nodes(mixedFleet.path("job/a"))).hasSize(1);
    assertThatThrownBy(() -> mixedFleet.mortise().lock("/job").tryAcquire())
        .isInstanceOf(LockException.class)
        .hasMessageContaining("without a leading slash");
  }

  @Test
  void givenHoldersAndWaiters_thenInspectShowsThoseOfBothSides() throws Exception {
    LockClient client = mixedFleet.mortise();
    InterProcessMutex curator = mutex();
    Lease lease = client.lock("job/a").acquireWithin(MixedFleet.LONG);
    Future<Boolean> waiting =
        mixedFleet.start(
            () -> {
              curator.acquire();
              curator.release();
              return true;
            });
    mixedFleet.awaitNodes(mixedFleet.path("job/a"), 2);
    var view = client.admin().find("job/a").orElseThrow();
    assertThat(view.holders()).hasSize(1);
    assertThat(view.holders().get(0).token()).isEqualTo(lease.token());
    assertThat(view.holders().get(0).client()).extracting("name").isEqualTo("m");
    assertThat(view.waiters()).hasSize(1);
    assertThat(client.admin().stream("")).extracting(LockInfo::name).containsExactly("job/a");
    lease.close();
    assertThat(MixedFleet.get(waiting)).isTrue();
  }

  @Test
  void givenUser_thenTheNodesAreItsOwn_asOfACuratorClientOfThatUser() throws Exception {
    String url = mixedFleet.url("mutex").replace("//", "//me:p%40ss@");
    LockClient client =
        mixedFleet.closedLater(LockClient.builder().url(url).ttl(MixedFleet.TTL).build());
    Lease lease = client.lock("job/a").acquireWithin(MixedFleet.LONG);
    CuratorFramework same =
        mixedFleet.closedLater(
            CuratorFrameworkFactory.builder()
                .connectString(MixedFleet.server().address())
                .retryPolicy(new RetryForever(50))
                .authorization("digest", "me:p@ss".getBytes(StandardCharsets.UTF_8))
                .build());
    same.start();

    assertThatThrownBy(() -> acquired(mutex())).isInstanceOf(KeeperException.NoAuthException.class);
    InterProcessMutex curator = new InterProcessMutex(same, mixedFleet.path("job/a"));
    assertThat(acquired(curator)).isFalse();
    lease.close();
    acquire(curator);
    curator.release();
    assertThat(client.admin().store().display()).doesNotContain("me:").contains("/fleet");
  }
}
