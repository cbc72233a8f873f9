package io.mortise.quorum;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.ServerIncarnation;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A member in virtual time that can forget all its data, and its clients' connections to it. */
final class SimMember {
  private static final long MICROS = 1_700_000_000_000_000L;

  /** Below the quarantine: more would be too much for a member that has lost its counter. */
  private static final Duration FAR = SimClient.TTL.multipliedBy(3).dividedBy(4);

  private final SimNetwork network;
  private final int index;

  /** The offset of its clock from the others': mostly realistic, sometimes large. */
  private final long skewMicros;

  private final List<RemoteMember> remoteMembers = new ArrayList<>();
  private MemStore table;
  private int restarts;
  private long restartedAt;

  SimMember(SimNetwork network, int index) {
    this.network = network;
    this.index = index;
    this.skewMicros = network.upTo(network.oneIn(4) ? FAR : Duration.ofMillis(30)).toNanos() / 1000;
    this.table = empty();
    // It has run for long.
    this.restartedAt = network.now() - Duration.ofDays(1).toNanos();
  }

  private MemStore empty() {
    long clock = MICROS + network.now() / 1000 + skewMicros;
    return new MemStore(EnumSet.allOf(Capability.class), network.time, clock, TableRules.ALL);
  }

  /**
   * It is restarted empty, or with an old state of open sessions and a free lock: connections
   * break, and each client notices the possibility.
   */
  void forget() {
    boolean all = network.random.nextBoolean();
    if (all) {
      table = empty();
    } else {
      table.forget(SimClient.LOCK);
    }
    restarts++;
    network.tell(this, all ? "forgets all" : "forgets the lock");
    restartedAt = network.now();
    for (RemoteMember remoteMember : List.copyOf(remoteMembers)) {
      remoteMember.simConnection.connection++;
      remoteMember.doubts.forEach(Runnable::run);
    }
  }

  private String incarnation() {
    return index + "/" + restarts;
  }

  /** The lock's state there, read without a request. */
  List<LockInfo> look(LockName name) {
    return table.inspect(LockQuery.of(name.value())).toCompletableFuture().join().items();
  }

  @Override
  public String toString() {
    return "m" + index;
  }

  RemoteMember link() {
    RemoteMember remoteMember = new RemoteMember();
    remoteMembers.add(remoteMember);
    return remoteMember;
  }

  /** The member, as one client reaches it. */
  final class RemoteMember implements LockStore {
    final SimNetwork.SimConnection simConnection = network.new SimConnection();
    private final List<Runnable> doubts = new ArrayList<>();

    private <T> CompletionStage<T> ask(Supplier<CompletionStage<T>> step) {
      CompletableFuture<T> answer = new CompletableFuture<>();
      simConnection.exchange(
          step,
          stage ->
              stage.whenComplete(
                  (result, failure) -> {
                    if (failure == null) {
                      answer.complete(result);
                    } else {
                      answer.completeExceptionally(failure);
                    }
                  }),
          () -> CompletableFuture.failedFuture(SimNetwork.nobody()));
      return answer;
    }

    @Override
    public StoreProfile profile() {
      return new StoreProfile(
          "m" + index,
          table.profile().capabilities(),
          network.inFlight(),
          Duration.ofMillis(1),
          Duration.ofMillis(1));
    }

    @Override
    public ServerIncarnation incarnation() {
      return new ServerIncarnation(
          SimMember.this.incarnation(), Duration.ofNanos(network.now() - restartedAt));
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      // Pushes are only hints, so there are none.
      return new Session(spec);
    }

    @Override
    public CompletionStage<SessionVerdict> judge(SessionId session) {
      return ask(() -> table.judge(session));
    }

    @Override
    public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
      return ask(() -> table.inspect(query));
    }

    @Override
    public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
      return ask(() -> table.evict(name, attempt, how));
    }

    @Override
    public CompletionStage<Integer> sweep(int budget) {
      return ask(() -> table.sweep(budget));
    }

    @Override
    public void close() {
      remoteMembers.remove(this);
    }

    private final class Session implements StoreSession {
      private final SessionSpec spec;

      Session(SessionSpec spec) {
        this.spec = spec;
      }

      private StoreSession there() {
        return table.open(spec, notifications -> {});
      }

      @Override
      public SessionId id() {
        return spec.id();
      }

      @Override
      public void submit(Request request, Consumer<Reply> sink) {
        simConnection.exchange(
            () -> {
              List<Reply> reply = new ArrayList<>();
              there().submit(request, reply::add);
              network.tell(SimMember.this, request, reply.get(0));
              return reply.get(0);
            },
            sink,
            () -> new Reply.Failed(request.attempt(), true, SimNetwork.nobody()));
      }

      @Override
      public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
        CompletableFuture<Renewal> answer = new CompletableFuture<>();
        simConnection.exchange(
            () -> told(there().renew(previous, next, seen).toCompletableFuture().join()),
            answer::complete,
            () -> new Renewal.Unknown(SimNetwork.nobody()));
        return answer;
      }

      /** In the same step it returns its incarnation. */
      private Renewal told(Renewal renewal) {
        network.tell(SimMember.this, spec.id(), renewal);
        return renewal instanceof Renewal.Renewed renewed
            ? new Renewal.Renewed(
                renewed.storeMicros(),
                renewed.notifications(),
                renewed.more(),
                SimMember.this.incarnation())
            : renewal;
      }

      @Override
      public void onSuspectedRestart(Runnable renewNow) {
        doubts.add(renewNow);
      }

      @Override
      public CompletionStage<Void> close() {
        return ask(() -> there().close());
      }
    }
  }
}
