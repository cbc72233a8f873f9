package io.mortise.zookeeper.curator;

import io.mortise.UnsupportedByStoreException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockName;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.Verdict;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** Locks where and as Curator keeps them. */
final class CuratorLockStore implements LockStore {
  private final CuratorTarget target;
  private final StoreProfile profile;
  private final LockLook look;
  private final Map<SessionId, CuratorSession> sessions = new ConcurrentHashMap<>();
  private final ScheduledThreadPoolExecutor timer = threads("mortise-zk-timer", 1);
  private final ScheduledThreadPoolExecutor worker = threads("mortise-zk-worker", 2);

  CuratorLockStore(CuratorTarget target, StoreProfile profile, LockLook look) {
    this.target = target;
    this.profile = profile;
    this.look = look;
  }

  private static ScheduledThreadPoolExecutor threads(String name, int count) {
    ScheduledThreadPoolExecutor threads =
        new ScheduledThreadPoolExecutor(
            count,
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            });
    threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    threads.setRemoveOnCancelPolicy(true);
    threads.setKeepAliveTime(1, TimeUnit.SECONDS);
    threads.allowCoreThreadTimeOut(true);
    // What comes after the close concerns nobody any more.
    threads.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    return threads;
  }

  /** Runs the task after a while, unless the store is closed by then. It must not wait. */
  Future<?> later(Runnable task, long nanos) {
    return timer.schedule(task, nanos, TimeUnit.NANOSECONDS);
  }

  /** For what waits. */
  Executor worker() {
    return worker;
  }

  Duration tick() {
    return target.tick();
  }

  List<ACL> acl() {
    return target.acl();
  }

  ZooKeeper connect(int timeoutMillis, Watcher watcher) throws IOException {
    return target.connect(timeoutMillis, watcher);
  }

  Stand stand(CuratorSession session, Request.Acquire request) {
    String path = target.paths().of(request.name());
    Mode mode = request.mode();
    return mode.capacity() == Mode.SHARERS
        ? new LineStand(session, request.name(), request.attempt(), target.recipe(), path)
        : new PermitStand(session, request.name(), request.attempt(), mode, path);
  }

  /** For an attempt of a session that another process has, or had. */
  Stand foreign(CuratorSession session, LockName name, AttemptId attempt) {
    return new LineStand(session, name, attempt, target.recipe(), target.paths().of(name))
        .inDoubt();
  }

  void ended(CuratorSession session) {
    sessions.remove(session.id(), session);
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<News> hints) {
    CuratorSession session = new CuratorSession(this, spec, hints);
    sessions.put(spec.id(), session);
    return session;
  }

  /**
   * Knows this process's sessions only. Of others it says that they have ended, though they may
   * live: nobody takes anything on that word here, for no answer of this store asks for a proof,
   * and what hangs on a session that has ended the server deletes by itself.
   */
  @Override
  public CompletionStage<Verdict> judge(SessionId id) {
    CuratorSession session = sessions.get(id);
    Duration left = session == null ? Duration.ZERO : session.left();
    return CompletableFuture.completedFuture(
        session == null || left.isZero()
            ? new Verdict.SessionEnded()
            : new Verdict.Alive(session.beat(), left));
  }

  @Override
  public CompletionStage<LockPage> inspect(LockQuery query) {
    return CompletableFuture.supplyAsync(() -> look.look(query), worker);
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return CompletableFuture.failedFuture(
        new UnsupportedByStoreException(
            "In Curator's layout (store="
                + profile.display()
                + ") nobody can be told that his hold was ended. Delete his node by hand if you must."));
  }

  /** Nothing to do: nodes go with their sessions, and empty containers by the server. */
  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return CompletableFuture.completedFuture(0);
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return CompletableFuture.completedFuture(
        StoreReport.about("zk+curator")
            .unknown(
                "forceSync",
                "A client cannot read the servers' configuration. Taken for yes, the default.",
                "Look whether zoo.cfg says forceSync=no: a power loss may then forget locks and tokens.",
                "power-loss")
            .build());
  }

  @Override
  public void close() {
    List<CompletableFuture<Void>> ending =
        sessions.values().stream().map(session -> session.close().toCompletableFuture()).toList();
    for (CompletableFuture<Void> end : ending) {
      end.completeOnTimeout(null, 2, TimeUnit.SECONDS).exceptionally(e -> null).join();
    }
    timer.shutdownNow();
    worker.shutdownNow();
    look.close();
  }
}
