package io.mortise.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.LockClient;
import io.mortise.admin.Eviction;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.TestStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.cluster.CamelClusterEventListener;
import org.apache.camel.cluster.CamelClusterMember;
import org.apache.camel.cluster.CamelClusterView;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The contract of a cluster service, with two properties that common ones lack: a loss is reported
 * at once, and a successor begins after the routes of its predecessor have stopped. Two processes
 * use one store.
 */
abstract class ClusterServiceContract {
  private static final String JOBS = "jobs";

  private final TestStore store;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private String url;
  private MortiseClusterService first;
  private MortiseClusterService second;

  ClusterServiceContract(TestStore store) {
    this.store = store;
  }

  @BeforeEach
  void open() {
    url = store.newUrl();
    first = service("first", connect());
    second = service("second", connect());
  }

  @AfterEach
  void close() throws Exception {
    for (int i = opened.size() - 1; i >= 0; i--) {
      opened.get(i).close();
    }
    opened.clear();
  }

  private LockClient connect() {
    LockClient client = LockClient.connect(url);
    opened.add(client);
    return client;
  }

  private MortiseClusterService service(String id, LockClient client) {
    MortiseClusterService service = MortiseClusterService.over(client);
    service.setId(id);
    service.start();
    opened.add(service::stop);
    return service;
  }

  /** The events of a listener, as text. */
  private static final class Events implements CamelClusterEventListener.Leadership {
    private final List<String> told = new CopyOnWriteArrayList<>();

    @Override
    public void leadershipChanged(CamelClusterView view, CamelClusterMember leader) {
      told.add(leader == null ? "nobody" : leader.getId());
    }
  }

  private static void until(Callable<Boolean> condition) {
    await().atMost(BoundedWait.scaled(BoundedWait.ANSWER)).until(condition);
  }

  /** An operator ends the term of the leader. */
  private void evict() {
    try (LockClient operator = LockClient.connect(url)) {
      String lock = MortiseClusterService.PREFIX + JOBS;
      String holder = operator.admin().find(lock).orElseThrow().holders().get(0).attempt();
      operator.admin().evict(lock, holder, Eviction.BREAK);
    }
  }

  private static Optional<String> leader(CamelClusterView view) {
    return view.getLeader().map(CamelClusterMember::getId);
  }

  @Test
  void givenTwoServices_thenOneLeads_andBothKnowIt() throws Exception {
    CamelClusterView here = first.getView(JOBS);
    until(() -> first.isLeader(JOBS));
    CamelClusterView there = second.getView(JOBS);
    assertThat(leader(here)).contains("first");
    assertThat(leader(there)).contains("first");
    assertThat(second.isLeader(JOBS)).isFalse();
    assertThat(here.getLocalMember().isLeader()).isTrue();
    assertThat(here.getLocalMember().isLocal()).isTrue();
    assertThat(there.getLeader().orElseThrow().isLocal()).isFalse();
    assertThat(there.getLeader().orElseThrow().isLeader()).isTrue();
    until(() -> here.getMembers().size() == 2);
    assertThat(there.getMembers())
        .extracting(CamelClusterMember::getId)
        .containsExactly("second", "first");
  }

  @Test
  void givenNamespaces_thenTheyAreIndependent_andAViewIsShared() throws Exception {
    CamelClusterView here = first.getView(JOBS);
    until(() -> first.isLeader(JOBS));
    CamelClusterView other = second.getView("mails");
    until(() -> second.isLeader("mails"));
    assertThat(first.getView(JOBS)).isSameAs(here);
    assertThat(first.getNamespaces()).containsExactly(JOBS);
    first.releaseView(here);
    assertThat(first.isLeader(JOBS)).as("it is used once more").isTrue();
    first.releaseView(here);
    until(() -> second.getView(JOBS) != null && second.isLeader(JOBS));
    assertThat(leader(other)).contains("second");
    assertThatThrownBy(() -> first.getView("a\nb")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenListeners_whenTheLeaderStops_thenBothAreTold() throws Exception {
    Events early = new Events();
    CamelClusterView here = first.getView(JOBS);
    here.addEventListener(early);
    until(() -> early.told.contains("first"));
    Events late = new Events();
    here.addEventListener(late);
    assertThat(late.told).as("told at once").containsExactly("first");
    Events there = new Events();
    second.getView(JOBS).addEventListener(there);
    first.stop();
    assertThat(early.told).endsWith("first", "nobody");
    assertThat(late.told).containsExactly("first", "nobody");
    until(() -> there.told.contains("second"));
    assertThat(second.isLeader(JOBS)).isTrue();
    assertThat(leader(here)).contains("second");
  }

  @Test
  void givenListenerThatStopsRoutes_whenTheLeaderStops_thenNobodyFollowsBeforeItHasReturned()
      throws Exception {
    CamelClusterView here = first.getView(JOBS);
    until(() -> first.isLeader(JOBS));
    second.getView(JOBS);
    CountDownLatch stopping = new CountDownLatch(1);
    CountDownLatch stopped = new CountDownLatch(1);
    AtomicInteger interrupted = new AtomicInteger();
    here.addEventListener(
        (CamelClusterEventListener.Leadership)
            (view, leader) -> {
              if (leader == null) {
                stopping.countDown();
                try {
                  stopped.await();
                } catch (InterruptedException e) {
                  interrupted.incrementAndGet();
                }
              }
            });
    Thread stop = new Thread(first::stop);
    stop.start();
    stopping.await();
    assertThat(here.getLocalMember().isLeader()).isFalse();
    assertThat(second.isLeader(JOBS)).isFalse();
    assertThat(connect().lock(MortiseClusterService.PREFIX + JOBS).tryAcquire())
        .as("the lock is held")
        .isEmpty();
    stopped.countDown();
    stop.join();
    until(() -> second.isLeader(JOBS));
    assertThat(interrupted).hasValue(0);
  }

  @Test
  void givenListenerThatStopsRoutesAfterALoss_whenTheLeaderStopsMeanwhile_thenItIsNotInterrupted()
      throws Exception {
    CountDownLatch stopping = new CountDownLatch(1);
    CountDownLatch stopped = new CountDownLatch(1);
    List<String> ends = new CopyOnWriteArrayList<>();
    CamelClusterView here = first.getView(JOBS);
    until(() -> first.isLeader(JOBS));
    here.addEventListener(
        (CamelClusterEventListener.Leadership)
            (view, leader) -> {
              if (leader == null) {
                stopping.countDown();
                try {
                  stopped.await();
                  ends.add("whole");
                } catch (InterruptedException e) {
                  ends.add("interrupted");
                }
              }
            });
    evict();
    stopping.await();
    Thread stop = new Thread(first::stop);
    stop.start();
    until(() -> stop.getState() == Thread.State.TIMED_WAITING);
    stopped.countDown();
    stop.join();
    assertThat(ends).containsExactly("whole");
  }

  @Test
  void givenListenerThatStopsItsView_whenToldOfTheEnd_thenItDoesNotWaitForItself()
      throws Exception {
    CountDownLatch returned = new CountDownLatch(1);
    CamelClusterView here = first.getView(JOBS);
    until(() -> first.isLeader(JOBS));
    here.addEventListener(
        (CamelClusterEventListener.Leadership)
            (view, leader) -> {
              if (leader == null) {
                view.stop();
                returned.countDown();
              }
            });
    evict();
    until(() -> returned.getCount() == 0);
    second.getView(JOBS);
    until(() -> second.isLeader(JOBS));
  }

  @Test
  void givenEvictedLeader_thenItIsToldAtOnce_andStandsAgain() throws Exception {
    Events events = new Events();
    first.getView(JOBS).addEventListener(events);
    until(() -> first.isLeader(JOBS));
    evict();
    until(() -> events.told.contains("nobody"));
    until(() -> events.told.lastIndexOf("first") > events.told.lastIndexOf("nobody"));
    until(() -> first.isLeader(JOBS));
  }

  @Test
  void givenListenerThatSwallowsTheInterrupt_whenTheLeadershipIsLost_thenItsEndIsTold()
      throws Exception {
    CamelClusterView here = first.getView(JOBS);
    until(() -> first.isLeader(JOBS));
    first.stopView(JOBS);
    AtomicInteger swallowed = new AtomicInteger();
    Events events = new Events();
    here.addEventListener(
        (CamelClusterEventListener.Leadership)
            (view, leader) -> {
              if (leader != null && swallowed.get() == 0) {
                evict();
                try {
                  new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                  swallowed.incrementAndGet();
                }
              }
            });
    here.addEventListener(events);
    first.startView(JOBS);
    until(() -> swallowed.get() == 1 && events.told.contains("nobody"));
    until(() -> first.isLeader(JOBS));
  }

  @Test
  void givenListenerThatThrows_whenItsViewBeginsToLead_thenAnotherLeads() throws Exception {
    first
        .getView(JOBS)
        .addEventListener(
            (CamelClusterEventListener.Leadership)
                (view, leader) -> {
                  if (leader != null) {
                    throw new IllegalStateException("of the test");
                  }
                });
    Events there = new Events();
    second.getView(JOBS).addEventListener(there);
    until(() -> there.told.contains("second"));
    until(() -> second.isLeader(JOBS));
  }

  @Test
  void givenViewThatWasStopped_whenStartedAgain_thenItStandsAgain() throws Exception {
    first.getView(JOBS);
    until(() -> first.isLeader(JOBS));
    first.stopView(JOBS);
    assertThat(first.isLeader(JOBS)).isFalse();
    second.getView(JOBS);
    until(() -> second.isLeader(JOBS));
    first.startView(JOBS);
    second.stop();
    until(() -> first.isLeader(JOBS));
  }

  @Test
  void givenClosedClient_thenNobodyIsKnown_andTheOtherFollows() throws Exception {
    LockClient dying = connect();
    MortiseClusterService third = service("third", dying);
    CamelClusterView view = third.getView(JOBS);
    until(() -> third.isLeader(JOBS));
    second.getView(JOBS);
    dying.close();
    until(() -> second.isLeader(JOBS));
    assertThat(third.isLeader(JOBS)).isFalse();
    assertThat(view.getLeader()).isEmpty();
  }
}
