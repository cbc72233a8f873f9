package io.mortise.zookeeper.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.zookeeper.internal.node.AtLeastMark;
import io.mortise.zookeeper.internal.node.AttemptIndex;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.queue.QueueEffect.AnswerRequest;
import io.mortise.zookeeper.internal.queue.QueueEffect.CreateNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.ForgetNotifications;
import io.mortise.zookeeper.internal.queue.QueueEffect.LeaveNotes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ListNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.NarrowNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.NotifyEngine;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadIndex;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadPurpose;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadQueue;
import io.mortise.zookeeper.internal.queue.QueueEffect.RecoverLater;
import io.mortise.zookeeper.internal.queue.QueueEffect.RemoveNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.Urgency;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchOwnNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.WatchSuccessors;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

/** The state machine without a server: each transition, and its effects. */
class LockQueueStateTest {
  private static final LockName NAME = LockName.of("x");
  private static final String PATH = "/m/locks/x";
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final long OURS = 7;
  private static final long THEIRS = 8;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final SessionId id = SessionId.random(RANDOM);
  private final AttemptId foreign = new AttemptId(SessionId.random(RANDOM), 1);
  private final SessionAttempts attempts = new SessionAttempts(id);
  private final SoleUserCache soleUserCache = new SoleUserCache();
  private final LockQueueState queue =
      new LockQueueState(new ConnectedSession(id), attempts, soleUserCache, NAME, PATH);

  /** A session with a connection. */
  private record ConnectedSession(SessionId id) implements SessionFacts {
    @Override
    public SessionSpec spec() {
      return new SessionSpec(id, TTL, new ClientLabel("host", 1, "name"));
    }

    @Override
    public String display() {
      return "test";
    }

    @Override
    public boolean isUp() {
      return true;
    }

    @Override
    public long zooKeeperSession() {
      return OURS;
    }

    @Override
    public Duration atLeastLeft(AtLeastMark mark) {
      return mark.length();
    }

    @Override
    public long tokenRank(long czxid) {
      return czxid;
    }
  }

  private AttemptId attempt(int number) {
    return new AttemptId(id, number);
  }

  private PendingRequest acquire(int number, boolean waits) {
    return pending(
        new Request.Acquire(
            NAME, attempt(number), Mode.EXCLUSIVE, waits, HoldTerms.NONE, 1, 0, null));
  }

  private PendingRequest abandon(int number) {
    return pending(new Request.Abandon(NAME, attempt(number)));
  }

  private static PendingRequest pending(Request request) {
    return new PendingRequest(request, 0, false, reply -> {});
  }

  private static NodeContent node(AttemptId attempt, long owner, long czxid) {
    Stat stat = new Stat();
    stat.setCzxid(czxid);
    stat.setEphemeralOwner(owner);
    return new NodeContent(NodeData.bytes(NodeData.attempt(attempt, TTL, "")), stat);
  }

  private static NodeContent container(int children) {
    Stat stat = new Stat();
    stat.setNumChildren(children);
    return new NodeContent(NodeData.capacity(Mode.SHARERS), stat);
  }

  private static String path(int seq) {
    return PATH + "/" + LockQueue.node(Mode.SHARERS, seq);
  }

  private static String name(int seq) {
    return LockQueue.node(Mode.SHARERS, seq);
  }

  private static <T extends QueueEffect> T only(List<QueueEffect> effects, Class<T> type) {
    assertThat(effects).singleElement().isInstanceOf(type);
    return type.cast(effects.get(0));
  }

  private static Reply answer(List<QueueEffect> effects) {
    return only(effects, AnswerRequest.class).reply();
  }

  /** Its node is created, one of that many. Returns the effects. */
  private List<QueueEffect> arrive(int number, int seq, int children) {
    CreateNode creation = only(queue.onSubmit(acquire(number, true)), CreateNode.class);
    return queue.onCreated(
        creation, new CreateResult.AmongOthers(path(seq), Mode.SHARERS, children));
  }

  private void hold(int number, int seq, long czxid) {
    CreateNode creation = only(queue.onSubmit(acquire(number, true)), CreateNode.class);
    queue.onCreated(creation, new CreateResult.OnlyNode(path(seq), Mode.SHARERS, czxid));
  }

  /** The attempt is right behind a holder in another session, and knows it. */
  private void waitAsSecond(int number, int seq) {
    List<QueueEffect> effects = arrive(number, seq, 2);
    assertThat(effects)
        .hasExactlyElementsOfTypes(WatchOwnNode.class, WatchSuccessors.class, WatchNode.class);
    assertThat(
            queue.onOwnWatched(
                (WatchOwnNode) effects.get(0), node(attempt(number), OURS, 1_000 + seq)))
        .isEmpty();
    assertThat(queue.onSuccessorsWatched((WatchSuccessors) effects.get(1), 2)).isEmpty();
    LeaveNotes notes =
        only(
            queue.onWatched((WatchNode) effects.get(2), node(foreign, THEIRS, 999)),
            LeaveNotes.class);
    assertThat(notes.holders()).containsExactly(foreign);
    Reply.Queued queued = (Reply.Queued) answer(queue.onNotesLeft(notes.purpose()));
    assertThat(queued.ahead()).isZero();
    assertThat(queued.holder()).isNotNull();
  }

  // ---- Acquiring ----

  @Test
  void givenFreeLock_thenOneNodeIsCreated_andTheOnlyOneHolds() {
    CreateNode creation = only(queue.onSubmit(acquire(1, true)), CreateNode.class);
    assertThat(creation.mayTakeOver()).isTrue();

    Reply reply =
        answer(queue.onCreated(creation, new CreateResult.OnlyNode(path(0), Mode.SHARERS, 500)));

    assertThat(((Reply.Granted) reply).token()).isEqualTo(500 << 16);
    assertThat(((Reply.Granted) reply).wanted()).isFalse();
    assertThat(queue.isIdle()).isTrue();
  }

  @Test
  void givenRequestInFlight_thenTheNextBeginsAfterIt_butAnEndGoesBefore() {
    hold(1, 0, 500);
    CreateNode creation = only(queue.onSubmit(acquire(2, true)), CreateNode.class);
    assertThat(queue.onSubmit(acquire(3, true))).isEmpty();

    RemoveNode removal = only(queue.onSubmit(abandon(1)), RemoveNode.class);
    assertThat(removal.attempt().seq).isZero();

    List<QueueEffect> effects =
        queue.onCreated(creation, new CreateResult.OnlyNode(path(1), Mode.SHARERS, 501));
    assertThat(effects).hasExactlyElementsOfTypes(AnswerRequest.class, CreateNode.class);
  }

  @Test
  void givenAttemptThatOnlyTries_whenAnotherHolds_thenItsNodeGoes_beforeItIsAnswered() {
    CreateNode creation = only(queue.onSubmit(acquire(1, false)), CreateNode.class);
    ListNodes list =
        only(
            queue.onCreated(creation, new CreateResult.AmongOthers(path(1), Mode.SHARERS, 2)),
            ListNodes.class);
    ReadNodes heads =
        only(queue.onListed(list.look(), Code.OK, List.of(name(0), name(1))), ReadNodes.class);
    LeaveNotes notes =
        only(queue.onRead(heads.purpose(), List.of(node(foreign, THEIRS, 9))), LeaveNotes.class);
    RemoveNode removal = only(queue.onNotesLeft(notes.purpose()), RemoveNode.class);

    Reply.Busy busy = (Reply.Busy) answer(queue.onRemoved(removal, Code.OK, false));

    assertThat(busy.holder()).isNotNull();
    assertThat(queue.isIdle()).isTrue();
    assertThat(attempts.all()).isEmpty();
  }

  @Test
  void givenLockOfAnotherCapacity_thenTheNodeGoes_andTheRequestIsRefused() {
    CreateNode creation = only(queue.onSubmit(acquire(1, true)), CreateNode.class);
    RemoveNode removal =
        only(
            queue.onCreated(creation, new CreateResult.OnlyNode(path(0), 3, 500)),
            RemoveNode.class);
    assertThat(answer(queue.onRemoved(removal, Code.OK, false))).isInstanceOf(Reply.Refused.class);
    assertThat(queue.isIdle()).isTrue();
  }

  // ---- Narrowing ----

  private NarrowNode narrow(int number, int seq) {
    PendingRequest request =
        pending(new Request.Adjust(NAME, attempt(number), Mode.SHARED, HoldTerms.NONE, 0, 0));
    ReadNodes read = only(queue.onSubmit(request), ReadNodes.class);
    return only(
        queue.onRead(read.purpose(), List.of(node(attempt(number), OURS, 500 + seq))),
        NarrowNode.class);
  }

  @Test
  void givenNarrowingWithoutAnswer_thenTheNextFindsTheMark_andTheHoldCannotBeWidened() {
    hold(1, 0, 500);
    Reply lost = answer(queue.onNarrowed(narrow(1, 0), Code.CONNECTIONLOSS));
    assertThat(((Reply.Failed) lost).mayHaveRun()).isTrue();
    PendingRequest wider =
        pending(new Request.Adjust(NAME, attempt(1), Mode.EXCLUSIVE, HoldTerms.NONE, 0, 0));
    assertThat(answer(queue.onSubmit(wider))).isInstanceOf(Reply.Refused.class);

    assertThat(answer(queue.onNarrowed(narrow(1, 0), Code.NODEEXISTS)))
        .isInstanceOf(Reply.Granted.class);
  }

  @Test
  void givenNarrowedHold_whenItEnds_thenNoAttemptGetsItsNode_andItsMarkGoesAfterIt() {
    hold(1, 0, 500);
    NarrowNode narrowing = narrow(1, 0);
    queue.onNarrowed(narrowing, Code.OK);
    PendingRequest later =
        new PendingRequest(new Request.Abandon(NAME, attempt(1)), 0, true, reply -> {});

    RemoveNode removal = only(queue.onSubmit(later), RemoveNode.class);

    assertThat(removal.urgency()).isEqualTo(Urgency.LATER);
    assertThat(queue.onRemoved(removal, Code.OK, false))
        .contains(new QueueEffect.RemoveMark(narrowing.mark()));
    assertThat(soleUserCache.before(PATH, new ZooKeeperAttempt(2, NAME, Mode.EXCLUSIVE, 1)))
        .isNull();
  }

  @Test
  void givenNodeThatHasGone_whenItsHoldIsNarrowed_thenItIsNotHeld() {
    hold(1, 0, 500);
    List<QueueEffect> effects = queue.onNarrowed(narrow(1, 0), Code.NONODE);
    assertThat(effects)
        .filteredOn(AnswerRequest.class::isInstance)
        .allSatisfy(
            effect ->
                assertThat(((Reply.Refused) ((AnswerRequest) effect).reply()).why())
                    .isEqualTo(Reply.RefusalReason.NOT_HELD))
        .hasSize(1);
    assertThat(attempts.all()).isEmpty();
  }

  // ---- Waiting ----

  @Test
  void givenSecondOfTwo_whenTheHoldersNodeGoes_thenItHoldsWithoutARead() {
    waitAsSecond(1, 1);

    NotifyEngine told = only(queue.onNodeChanged(EventType.NodeDeleted, 0), NotifyEngine.class);

    SessionNotification.HoldGranted granted = (SessionNotification.HoldGranted) told.notification();
    assertThat(granted.token()).isEqualTo(1_001L << 16);
    assertThat(granted.wanted()).isFalse();
    assertThat(queue.isIdle()).isTrue();
  }

  @Test
  void givenSecondOfTwo_whenAnotherComesBehind_thenItsGrantSaysSo() {
    waitAsSecond(1, 1);
    assertThat(queue.onChildrenChanged()).isEmpty();

    NotifyEngine told = only(queue.onNodeChanged(EventType.NodeDeleted, 0), NotifyEngine.class);

    assertThat(((SessionNotification.HoldGranted) told.notification()).wanted()).isTrue();
  }

  @Test
  void givenSecondOfTwo_whenTheConnectionBrokeMeanwhile_thenItReadsBeforeItHolds() {
    waitAsSecond(1, 1);
    queue.onDisconnected();
    ListNodes list = only(queue.onReconnected(false), ListNodes.class);
    ReadNodes read =
        only(queue.onListed(list.look(), Code.OK, List.of(name(0), name(1))), ReadNodes.class);
    LeaveNotes notes =
        only(queue.onRead(read.purpose(), List.of(node(foreign, THEIRS, 9))), LeaveNotes.class);
    assertThat(queue.onNotesLeft(notes.purpose())).isEmpty();

    ReadQueue own = only(queue.onNodeChanged(EventType.NodeDeleted, 0), ReadQueue.class);

    assertThat(queue.onQueueRead(own, List.of(name(1)), node(attempt(1), OURS, 501)))
        .singleElement()
        .isInstanceOf(NotifyEngine.class);
  }

  @Test
  void givenHolderThatIsNarrowedBeforeItIsWatched_thenAReaderLooksAgain() {
    CreateNode creation =
        only(
            queue.onSubmit(
                pending(
                    new Request.Acquire(
                        NAME, attempt(1), Mode.SHARED, true, HoldTerms.NONE, 1, 0, null))),
            CreateNode.class);
    String reader = LockQueue.node(1, 1);
    ListNodes list =
        only(
            queue.onCreated(
                creation, new CreateResult.AmongOthers(PATH + "/" + reader, Mode.SHARERS, 2)),
            ListNodes.class);
    List<QueueEffect> effects = queue.onListed(list.look(), Code.OK, List.of(name(0), reader));
    assertThat(effects).hasExactlyElementsOfTypes(WatchNode.class, ReadNodes.class);
    NodeContent narrowed = node(foreign, THEIRS, 9);
    narrowed.stat().setVersion(1);
    assertThat(queue.onWatched((WatchNode) effects.get(0), narrowed)).isEmpty();
    LeaveNotes notes =
        only(
            queue.onRead(((ReadNodes) effects.get(1)).purpose(), List.of(narrowed)),
            LeaveNotes.class);

    assertThat(queue.onNotesLeft(notes.purpose()))
        .hasExactlyElementsOfTypes(AnswerRequest.class, ListNodes.class);
  }

  @Test
  void givenNodeOfAnotherSessionInItsPlace_thenTheWaiterHoldsNothing_andIsTold() {
    waitAsSecond(1, 1);
    queue.onDisconnected();
    ReadQueue own = only(queue.onNodeChanged(EventType.NodeDeleted, 0), ReadQueue.class);
    ReadNodes read =
        only(
            queue.onQueueRead(own, List.of(name(1)), node(attempt(1), THEIRS, 501)),
            ReadNodes.class);

    List<QueueEffect> effects =
        queue.onRead(read.purpose(), List.of(node(attempt(1), THEIRS, 501)));

    assertThat(effects).hasExactlyElementsOfTypes(ForgetNotifications.class, NotifyEngine.class);
    assertThat(((NotifyEngine) effects.get(1)).notification())
        .isInstanceOf(SessionNotification.HoldEnded.class);
    assertThat(queue.isIdle()).isTrue();
  }

  @Test
  void givenLongQueue_thenItIsNotListed_andAMarkCostsOneRead() {
    WatchNode watch = only(arrive(1, 200, 100), WatchNode.class);
    Reply.Queued queued = (Reply.Queued) answer(queue.onWatched(watch, node(foreign, THEIRS, 999)));
    assertThat(queued.ahead()).isEqualTo(98);

    ReadNodes read = only(queue.onNodeChanged(EventType.NodeDataChanged, 199), ReadNodes.class);
    assertThat(read.purpose()).isInstanceOf(ReadPurpose.Confirming.class);
    assertThat(read.paths()).containsExactly(path(200), PATH, path(199));

    List<QueueEffect> effects =
        queue.onRead(
            read.purpose(), List.of(node(attempt(1), OURS, 501), container(100), NodeContent.NONE));
    only(effects, NotifyEngine.class);
    // It knows that many wait, so it marks its own node.
    assertThat(only(queue.onSubmit(abandon(1)), RemoveNode.class).urgency())
        .isEqualTo(Urgency.MARKED_HANDOFF);
  }

  // ---- Doubt ----

  @Test
  void givenLostCreation_thenTheQueueIsReadOverTheNextConnection_andTheAttemptGoesOn() {
    CreateNode creation = only(queue.onSubmit(acquire(1, true)), CreateNode.class);
    Reply.Failed failed =
        (Reply.Failed)
            answer(queue.onCreated(creation, new CreateResult.NotMade(Code.CONNECTIONLOSS)));
    assertThat(failed.mayHaveRun()).isTrue();

    only(queue.onReconnected(true), ReadIndex.class);
    assertThat(queue.onSubmit(acquire(1, true))).as("requests wait").isEmpty();
    LockQueue found = LockQueue.of(List.of(name(3)), Mode.SHARERS);
    List<QueueEffect> effects =
        queue.onIndexRead(new AttemptIndex(Mode.SHARERS, found, Map.of(attempt(1), 0)));

    assertThat(effects).hasExactlyElementsOfTypes(ListNodes.class, ReadNodes.class);
    assertThat(((ReadNodes) effects.get(1)).purpose()).isInstanceOf(ReadPurpose.Polling.class);
  }

  @Test
  void givenLostRemoval_thenTheNodeIsRemovedAgainIfItStands() {
    hold(1, 0, 500);
    RemoveNode removal = only(queue.onSubmit(abandon(1)), RemoveNode.class);
    assertThat(answer(queue.onRemoved(removal, Code.CONNECTIONLOSS, false)))
        .isInstanceOf(Reply.Failed.class);
    only(queue.onReconnected(true), ReadIndex.class);
    LockQueue found = LockQueue.of(List.of(name(0)), Mode.SHARERS);

    RemoveNode again =
        only(
            queue.onIndexRead(new AttemptIndex(Mode.SHARERS, found, Map.of(attempt(1), 0))),
            RemoveNode.class);

    assertThat(queue.onRemoved(again, Code.OK, false))
        .singleElement()
        .isInstanceOf(ForgetNotifications.class);
    Reply.Ended ended = (Reply.Ended) answer(queue.onSubmit(abandon(1)));
    assertThat(ended.was()).isEqualTo(Reply.AttemptState.HELD);
    assertThat(ended.how()).isEqualTo(Reply.EndReason.RELEASED);
  }

  @Test
  void givenRecoveryWithoutAnAnswer_thenItIsTriedAgain() {
    CreateNode creation = only(queue.onSubmit(acquire(1, true)), CreateNode.class);
    queue.onCreated(creation, new CreateResult.NotMade(Code.CONNECTIONLOSS));
    only(queue.onReconnected(true), ReadIndex.class);

    only(queue.onIndexRead(null), RecoverLater.class);

    only(queue.onRecoveryDue(), ReadIndex.class);
  }

  @Test
  void givenRequestThatTakesTooLong_thenItIsAnsweredOnce() {
    PendingRequest request = acquire(1, true);
    CreateNode creation = only(queue.onSubmit(request), CreateNode.class);
    Reply.Failed failed = (Reply.Failed) answer(queue.onTime(11, 10));
    assertThat(failed.mayHaveRun()).isTrue();

    assertThat(queue.onCreated(creation, new CreateResult.OnlyNode(path(0), Mode.SHARERS, 500)))
        .isEmpty();
    assertThat(queue.isIdle()).isTrue();

    // It holds nevertheless, as the next poll shows.
    ReadNodes poll = only(queue.onSubmit(acquire(1, true)), ReadNodes.class);
    assertThat(
            answer(
                queue.onRead(poll.purpose(), List.of(container(1), node(attempt(1), OURS, 500)))))
        .isInstanceOf(Reply.Granted.class);
  }
}
