package io.mortise.zookeeper.internal.queue;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.session.AtLeastMonitor;
import io.mortise.zookeeper.internal.node.AtLeastMark;
import io.mortise.zookeeper.internal.node.AttemptIndex;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.queue.QueueEffect.AnswerRequest;
import io.mortise.zookeeper.internal.queue.QueueEffect.CreateNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.EndForeign;
import io.mortise.zookeeper.internal.queue.QueueEffect.EndSession;
import io.mortise.zookeeper.internal.queue.QueueEffect.ForgetNotifications;
import io.mortise.zookeeper.internal.queue.QueueEffect.KeepShut;
import io.mortise.zookeeper.internal.queue.QueueEffect.LeaveNotes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ListHolders;
import io.mortise.zookeeper.internal.queue.QueueEffect.ListNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.NarrowNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.NotifyEngine;
import io.mortise.zookeeper.internal.queue.QueueEffect.OpenLock;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadQueue;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemoveMark;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemoveNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.RewriteNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.Urgency;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchOwnNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchSuccessors;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * A session at one lock: the state machine under test, between a simulated engine and a simulated
 * server. Requests are sent, executed and answered one step at a time, as the world decides.
 */
final class SimulatedSession implements SessionFacts, QueueEffect.Executor {
  private static final LockName NAME = LockName.of("x");
  private static final String PATH = "/m/locks/x";

  private final SessionSpec spec;
  private final long number;
  private final SimulatedQueue server;
  private final RandomGenerator random;
  private final NotesBoard notesBoard;
  private final Consumer<SessionNotification> engine;
  private final SessionAttempts attempts;
  private final AtLeastMonitor atLeastMonitor;
  private final SoleUserCache soleUserCache = new SoleUserCache();

  /** Writes that have not been sent yet. */
  private final ArrayDeque<SimulatedRequest> gathered = new ArrayDeque<>();

  private final ArrayDeque<SimulatedRequest> sent = new ArrayDeque<>();
  private final ArrayDeque<SimulatedMessage> arriving = new ArrayDeque<>();
  private final List<Runnable> timers = new ArrayList<>();

  /** The watches that the client believes to have set. */
  private final Set<Integer> watched = new TreeSet<>();

  private boolean watchesChildren;
  private long seen;
  private boolean up = true;
  private @Nullable LockQueueState queue;
  private final ArrayDeque<Runnable> due = new ArrayDeque<>();
  private boolean executing;

  /** Brings a note to the session of a holder. */
  @FunctionalInterface
  interface NotesBoard {
    void leave(AttemptId holder);
  }

  /**
   * A request in flight: its execution returns the client's handling of the answer.
   *
   * @param unanswered the client's reaction if the answer is lost
   * @param lost the client's reaction if the request is lost
   */
  private record SimulatedRequest(
      Supplier<Runnable> execution,
      Runnable unanswered,
      Runnable lost,
      @Nullable UnsentRelease release) {
    SimulatedRequest(Supplier<Runnable> execution, Runnable lost) {
      this(execution, lost, lost, null);
    }
  }

  /** An answer in flight, or an event, which is dropped if it is lost. */
  private record SimulatedMessage(Runnable step, @Nullable Runnable lost, long zxid) {}

  /** A removal whose node the next attempt may reuse. */
  private record UnsentRelease(RemoveNode removal) {}

  SimulatedSession(
      SessionId id,
      long number,
      SimulatedQueue server,
      RandomGenerator random,
      Ticker ticker,
      NotesBoard notesBoard,
      Consumer<SessionNotification> engine) {
    this.spec = new SessionSpec(id, Duration.ofSeconds(10), new ClientLabel("host", 1, "sim"));
    this.number = number;
    this.server = server;
    this.random = random;
    this.notesBoard = notesBoard;
    this.engine = engine;
    this.attempts = new SessionAttempts(id);
    this.atLeastMonitor = new AtLeastMonitor(ticker);
  }

  // ---- The state that the queue reads ----

  SessionId id() {
    return spec.id();
  }

  @Override
  public SessionSpec spec() {
    return spec;
  }

  @Override
  public String display() {
    return "simulated";
  }

  @Override
  public boolean isUp() {
    return up;
  }

  @Override
  public long zooKeeperSession() {
    return number;
  }

  @Override
  public Duration atLeastLeft(AtLeastMark mark) {
    return atLeastMonitor.left(mark.attempt(), mark.start(), mark.length());
  }

  @Override
  public long tokenRank(long czxid) {
    return czxid;
  }

  // ---- The world's steps ----

  void submit(Request request, boolean later, Consumer<Reply> sink) {
    PendingRequest pending = new PendingRequest(request, 0, later, sink);
    step(present(), to -> to.onSubmit(pending));
  }

  void wanted(AttemptId holder) {
    attempts.want(holder).ifPresent(engine);
  }

  boolean isQuiet() {
    return gathered.isEmpty() && sent.isEmpty() && arriving.isEmpty() && timers.isEmpty();
  }

  boolean isIdle() {
    return queue == null && attempts.isSettled();
  }

  /** Sends one gathered write. */
  void send() {
    if (!gathered.isEmpty()) {
      sent.add(gathered.remove());
    }
  }

  /** The server executes the next request. */
  void execute() {
    SimulatedRequest request = up ? sent.poll() : null;
    if (request != null) {
      Runnable step = request.execution().get();
      arriving.add(new SimulatedMessage(step, request.unanswered(), server.zxid()));
    }
  }

  /** The client gets the next message. */
  void receive() {
    SimulatedMessage message = arriving.poll();
    if (message != null) {
      seen = Math.max(seen, message.zxid());
      message.step().run();
    }
  }

  /** The session finds that those of these nodes have ended. */
  void detect(Map<Integer, SessionId> sessionless) {
    sessionless.forEach(
        (seq, session) -> {
          if (queue != null) {
            step(queue, to -> to.onSessionEnded(session, Set.of(seq)));
          }
        });
  }

  void runTimers() {
    List<Runnable> all = List.copyOf(timers);
    timers.clear();
    all.forEach(Runnable::run);
  }

  /**
   * The connection breaks. The server may have executed some of the sent requests. Lost answers are
   * reported before the client knows of the break, or after it.
   */
  void disconnect() {
    if (!up) {
      return;
    }
    while (!sent.isEmpty() && random.nextBoolean()) {
      execute();
    }
    server.forgetWatches(number);
    List<Runnable> lost = new ArrayList<>();
    for (SimulatedMessage message : arriving) {
      if (message.lost() != null) {
        lost.add(message.lost());
      }
    }
    sent.forEach(request -> lost.add(request.lost()));
    arriving.clear();
    sent.clear();
    up = random.nextBoolean();
    // The resulting requests are sent over the next connection.
    lost.forEach(Runnable::run);
    up = false;
    soleUserCache.forget();
    if (queue != null) {
      step(queue, LockQueueState::onDisconnected);
    }
  }

  void reconnect() {
    if (up) {
      return;
    }
    up = true;
    List<Integer> again = List.copyOf(watched);
    boolean children = watchesChildren;
    soleUserCache.forget();
    boolean inDoubt = !attempts.namesInDoubt().isEmpty();
    if (queue != null || inDoubt || !attempts.namesUnmarked().isEmpty()) {
      step(present(), to -> to.onReconnected(inDoubt));
    }
    server.watchAgain(again, children, seen, number);
  }

  void hear(SimulatedQueue.WatchEvent event) {
    Integer seq = event.seq();
    arriving.add(
        new SimulatedMessage(
            () -> {
              if (seq == null) {
                watchesChildren = false;
              } else {
                watched.remove(seq);
              }
              if (queue != null && seq == null) {
                step(queue, LockQueueState::onChildrenChanged);
              } else if (queue != null) {
                step(queue, to -> to.onNodeChanged(event.type(), seq));
              }
            },
            null,
            event.zxid()));
  }

  // ---- Effects ----

  private LockQueueState present() {
    LockQueueState present = queue;
    if (present == null) {
      present = new LockQueueState(this, attempts, soleUserCache, NAME, PATH);
      queue = present;
    }
    return present;
  }

  private void step(LockQueueState to, Function<LockQueueState, List<QueueEffect>> transition) {
    List<QueueEffect> effects = transition.apply(to);
    if (to.isIdle() && queue == to) {
      queue = null;
    }
    effects.forEach(effect -> due.add(() -> effect.execute(to, this)));
    if (executing) {
      return;
    }
    executing = true;
    for (Runnable next = due.poll(); next != null; next = due.poll()) {
      next.run();
    }
    executing = false;
  }

  private void ask(Supplier<Runnable> execution, Runnable lost) {
    sent.add(new SimulatedRequest(execution, lost));
  }

  @Override
  public void create(LockQueueState to, CreateNode effect) {
    Consumer<CreateResult> then = result -> step(to, queue -> queue.onCreated(effect, result));
    ZooKeeperAttempt attempt = effect.attempt();
    if (effect.mayTakeOver() && takeOver(to, effect, then)) {
      return;
    }
    boolean reads = !soleUserCache.expects(PATH, attempt);
    if (soleUserCache.wantsWatch(PATH, attempt)) {
      ask(() -> () -> soleUserCache.watches(PATH), () -> {});
    }
    gathered.add(creation(effect, reads, then));
  }

  private SimulatedRequest creation(CreateNode effect, boolean reads, Consumer<CreateResult> then) {
    return new SimulatedRequest(
        () -> {
          String made =
              server.create(effect.attempt().weight(), NodeData.bytes(effect.data()), number);
          long czxid = server.zxid();
          OptionalLong known = random.nextBoolean() ? OptionalLong.of(czxid) : OptionalLong.empty();
          if (!reads) {
            return () -> then.accept(new CreateResult.ContainerNotRead(made, known));
          }
          // Requests of others may come between the creation and the read behind it.
          CreationRead read = new CreationRead(made, known, then);
          sent.addFirst(new SimulatedRequest(read::execute, read::lost));
          return () -> read.created = true;
        },
        () -> {
          if (!reads) {
            then.accept(new CreateResult.NotMade(Code.CONNECTIONLOSS));
          }
        },
        () -> then.accept(new CreateResult.NotMade(Code.CONNECTIONLOSS)),
        null);
  }

  /** The read behind a creation. */
  private final class CreationRead {
    private final String made;
    private final OptionalLong czxid;
    private final Consumer<CreateResult> then;

    /** Whether the client knows that the node was created. */
    boolean created;

    CreationRead(String made, OptionalLong czxid, Consumer<CreateResult> then) {
      this.made = made;
      this.czxid = czxid;
      this.then = then;
    }

    Runnable execute() {
      NodeContent container = server.read(PATH);
      int children = container.stat().getNumChildren();
      int capacity = NodeData.capacity(container.data());
      long rank = czxid.orElse(container.stat().getPzxid());
      return () ->
          then.accept(
              children == 1
                  ? new CreateResult.OnlyNode(made, capacity, rank)
                  : new CreateResult.AmongOthers(made, capacity, children));
    }

    void lost() {
      then.accept(
          created
              ? new CreateResult.ContainerUnknown(made)
              : new CreateResult.NotMade(Code.CONNECTIONLOSS));
    }
  }

  private boolean takeOver(LockQueueState to, CreateNode effect, Consumer<CreateResult> then) {
    for (SimulatedRequest request : gathered) {
      UnsentRelease unsent = request.release();
      if (unsent != null && effect.attempt().mayTakeOver(unsent.removal().attempt())) {
        RemoveNode removal = unsent.removal();
        ZooKeeperAttempt previous = removal.attempt();
        effect.attempt().startAt(previous.next());
        gathered.remove(request);
        gathered.add(
            new SimulatedRequest(
                () -> {
                  server.reuse(previous.seq, NodeData.bytes(effect.data()));
                  return () -> {
                    step(to, queue -> queue.onRemoved(removal, Code.OK, true));
                    then.accept(new CreateResult.TakenOver(previous));
                  };
                },
                () -> {
                  step(to, queue -> queue.onRemoved(removal, Code.CONNECTIONLOSS, false));
                  then.accept(new CreateResult.NotMade(Code.CONNECTIONLOSS));
                }));
        return true;
      }
    }
    return false;
  }

  @Override
  public void remove(LockQueueState to, RemoveNode effect) {
    boolean marked = effect.urgency() == Urgency.MARKED_HANDOFF;
    boolean atOnce = marked || effect.urgency() == Urgency.HANDOFF;
    boolean mayBeTakenOver = effect.urgency() == Urgency.LATER_OR_TAKEN_OVER;
    int seq = effect.attempt().seq;
    Runnable lost = () -> step(to, queue -> queue.onRemoved(effect, Code.CONNECTIONLOSS, false));
    SimulatedRequest request =
        new SimulatedRequest(
            () -> {
              Code code =
                  effect.marks().isNone()
                      ? server.delete(seq, marked)
                      : server.end(seq, effect.marks());
              return () -> step(to, queue -> queue.onRemoved(effect, code, false));
            },
            lost,
            lost,
            mayBeTakenOver ? new UnsentRelease(effect) : null);
    (atOnce ? sent : gathered).add(request);
  }

  @Override
  public void rewrite(LockQueueState to, RewriteNode effect) {
    ask(
        () -> {
          server.write(effect.attempt().seq, effect.content().data());
          return () -> {};
        },
        () -> {});
  }

  @Override
  public void narrow(LockQueueState to, NarrowNode effect) {
    ask(
        () -> {
          String mark = NodeLayout.last(effect.mark());
          Code code = server.narrow(effect.attempt().seq, effect.content(), mark, number);
          return () -> step(to, queue -> queue.onNarrowed(effect, code));
        },
        () -> step(to, queue -> queue.onNarrowed(effect, Code.CONNECTIONLOSS)));
  }

  @Override
  public void removeMark(RemoveMark effect) {
    ask(
        () -> {
          server.removeMark(NodeLayout.last(effect.path()));
          return () -> {};
        },
        () -> timers.add(() -> removeMark(effect)));
  }

  @Override
  public void keepShut(LockQueueState to, KeepShut effect) {
    ask(
        () -> {
          Code code =
              server.keepShut(
                  effect.attempt().seq, effect.content(), effect.mark(), effect.replaced());
          return () -> step(to, queue -> queue.onKeptShut(effect, code));
        },
        () -> step(to, queue -> queue.onKeptShut(effect, Code.CONNECTIONLOSS)));
  }

  @Override
  public void open(LockQueueState to, OpenLock effect) {
    ask(
        () -> {
          Code code = server.open(effect.marks());
          return () -> step(to, queue -> queue.onOpened(effect, code));
        },
        () -> step(to, queue -> queue.onOpened(effect, Code.CONNECTIONLOSS)));
  }

  @Override
  public void listHolders(LockQueueState to, ListHolders effect) {
    ask(
        () -> {
          List<String> children = server.children();
          return () -> step(to, queue -> queue.onHoldersListed(effect, children));
        },
        () -> step(to, queue -> queue.onHoldersListed(effect, null)));
  }

  @Override
  public void removeContainer(LockQueueState to) {
    throw new AssertionError("Numbers do not come to an end here.");
  }

  @Override
  public void list(LockQueueState to, ListNodes effect) {
    ask(
        () -> {
          if (effect.look().watching) {
            server.watchChildren(number);
          }
          List<String> children = server.children();
          return () -> {
            watchesChildren |= effect.look().watching;
            step(to, queue -> queue.onListed(effect.look(), Code.OK, children));
          };
        },
        () -> step(to, queue -> queue.onListed(effect.look(), Code.CONNECTIONLOSS, null)));
  }

  @Override
  public void read(LockQueueState to, ReadNodes effect) {
    ask(
        () -> {
          List<NodeContent> read = effect.paths().stream().map(server::read).toList();
          return () -> step(to, queue -> queue.onRead(effect.purpose(), read));
        },
        () -> step(to, queue -> queue.onRead(effect.purpose(), null)));
  }

  @Override
  public void readQueue(LockQueueState to, ReadQueue effect) {
    int seq = effect.attempt().seq;
    ask(
        () -> {
          List<String> children = server.children();
          NodeContent own = server.read(seq);
          return () -> step(to, queue -> queue.onQueueRead(effect, children, own));
        },
        () -> step(to, queue -> queue.onQueueRead(effect, null, NodeContent.NONE)));
  }

  @Override
  public void watch(LockQueueState to, WatchNode effect) {
    watch(
        effect.node().seq(),
        nodeContent -> step(to, queue -> queue.onWatched(effect, nodeContent)));
  }

  @Override
  public void watchOwn(LockQueueState to, WatchOwnNode effect) {
    watch(
        effect.attempt().seq,
        nodeContent -> step(to, queue -> queue.onOwnWatched(effect, nodeContent)));
  }

  private void watch(int seq, Consumer<NodeContent> then) {
    ask(
        () -> {
          NodeContent nodeContent = server.read(seq);
          if (nodeContent.stat() != null) {
            server.watch(seq, number);
          }
          return () -> {
            if (nodeContent.stat() != null) {
              watched.add(seq);
            }
            then.accept(nodeContent);
          };
        },
        () -> then.accept(NodeContent.NONE));
  }

  @Override
  public void watchSuccessors(LockQueueState to, WatchSuccessors effect) {
    ask(
        () -> {
          server.watchChildren(number);
          int nodes = server.children().size();
          return () -> {
            watchesChildren = true;
            step(to, queue -> queue.onSuccessorsWatched(effect, nodes));
          };
        },
        () -> {});
  }

  @Override
  public void readIndex(LockQueueState to) {
    ask(
        () -> {
          AttemptIndex index = server.index();
          return () -> step(to, queue -> queue.onIndexRead(index));
        },
        () -> step(to, queue -> queue.onIndexRead(null)));
  }

  @Override
  public void recoverLater(LockQueueState to) {
    timers.add(() -> step(present(), LockQueueState::onRecoveryDue));
  }

  @Override
  public void leaveNotes(LockQueueState to, LeaveNotes effect) {
    Runnable then = () -> step(to, queue -> queue.onNotesLeft(effect.purpose()));
    ask(
        () -> {
          effect.holders().forEach(notesBoard::leave);
          return then;
        },
        then);
  }

  @Override
  public void endForeign(LockQueueState to, EndForeign effect) {
    throw new AssertionError("Nobody ends attempts of other sessions here.");
  }

  @Override
  public void answer(AnswerRequest effect) {
    effect.request().deliver(effect.reply());
  }

  @Override
  public void tell(NotifyEngine effect) {
    engine.accept(effect.notification());
  }

  @Override
  public void forgetNotifications(ForgetNotifications effect) {
    // Holders are told at once here, and never again.
  }

  @Override
  public void endSession(EndSession effect) {
    throw new AssertionError("Sessions end from outside here.");
  }
}
