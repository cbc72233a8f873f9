package io.mortise.simulation.toy;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.support.document.DocumentStoreOpener;
import io.mortise.support.document.DocumentTooLargeException;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.verification.log.RecordedLog;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests of one process share steps; each gets its own answer. */
class KeyedBatcherTest {
  private static final LockName LOCK = LockName.of("shared-steps");

  private final ClocklessToyDocuments server = new ClocklessToyDocuments();
  private final Deque<Runnable> inFlight = new ArrayDeque<>();
  private final SessionId id = SessionId.random(new Random(1));
  private final List<Reply> replies = new ArrayList<>();
  private final StoreSession session = open();

  private int writes;
  private int lastSize;
  private int lastTried;
  private int mostSize = Integer.MAX_VALUE;
  private boolean isSilent;
  private boolean isBusy;

  private StoreSession open() {
    LockStore store =
        DocumentStoreOpener.open(
            ClocklessToyStoreUnderTest.PROFILE,
            new LimitedDocuments(),
            new LimitedDocuments(),
            () -> 0,
            () -> 0,
            millis -> inFlight::add,
            32,
            null);
    ClientLabel label = new ClientLabel("host", 1, "process");
    return store.open(new SessionSpec(id, Duration.ofMinutes(1), label), hint -> {});
  }

  @BeforeEach
  void renew() {
    session.renew(0, 1, List.of());
    runAll();
  }

  private void runAll() {
    while (!inFlight.isEmpty()) {
      inFlight.remove().run();
    }
  }

  private AttemptId attempt(int number) {
    return new AttemptId(id, number);
  }

  private Request acquire(int number) {
    return acquire(number, Mode.EXCLUSIVE);
  }

  private Request acquire(int number, Mode mode) {
    return new Request.Acquire(LOCK, attempt(number), mode, true, HoldTerms.NONE, 1, 0, null);
  }

  private Request release(int number) {
    return new Request.Abandon(LOCK, attempt(number));
  }

  private void submit(Request request) {
    session.submit(request, replies::add);
  }

  /** Submits acquires in order, ignoring the replies. The first is told of the second. */
  private void acquireUpTo(int last) {
    for (int i = 1; i <= last; i++) {
      submit(acquire(i));
      runAll();
    }
    assertThat(replies).hasSize(last).noneMatch(Reply.Failed.class::isInstance);
    replies.clear();
    writes = 0;
  }

  private List<Long> answered() {
    return replies.stream().map(reply -> reply.attempt().number()).toList();
  }

  private long holders() {
    String record = server.read("lock/" + LOCK).toCompletableFuture().join().text();
    return Objects.requireNonNull(record).lines().filter(it -> it.startsWith("hold")).count();
  }

  private static boolean mayHaveRun(Reply reply) {
    return reply instanceof Reply.Failed failed && failed.mayHaveRun();
  }

  @Test
  void givenStepInFlight_when65RequestsCome_thenTheyAreTakenInTwoSteps() {
    acquireUpTo(2);
    for (int i = 3; i <= 3 + 65; i++) {
      submit(acquire(i));
    }
    runAll();
    assertThat(writes).as("one, 64 and one").isEqualTo(3);
    assertThat(answered()).isSorted();
    assertThat(replies).hasSize(66).allMatch(Reply.Queued.class::isInstance);
  }

  @Test
  void givenSinkThatThrows_thenThatIsLogged_andTheOthersOfItsStepAreAnswered() {
    session.submit(
        acquire(1),
        reply -> {
          throw new IllegalStateException("thrown by a sink");
        });
    submit(acquire(2));
    submit(acquire(3));
    runAll();
    assertThat(writes).isEqualTo(1);
    assertThat(answered()).containsExactly(2L, 3L);
    assertThat(RecordedLog.linesWith("'" + LOCK.value() + "'"))
        .singleElement()
        .asString()
        .startsWith("ERROR DocumentSession: ");
  }

  @Test
  void givenStepInFlight_whenItFails_thenRequestsThatCameSinceAreSentWithTheNext() {
    acquireUpTo(2);
    submit(acquire(3));
    submit(acquire(4));
    submit(release(1));
    isSilent = true;
    inFlight.remove().run();
    isSilent = false;
    runAll();
    assertThat(answered()).containsExactly(3L, 1L, 4L);
    assertThat(replies.get(0)).matches(KeyedBatcherTest::mayHaveRun);
    assertThat(replies.get(1)).isInstanceOf(Reply.Ended.class);
    assertThat(replies.get(2)).isInstanceOf(Reply.Queued.class);
  }

  @Test
  void givenLockThatWasNeverMet_whenItCannotBeRead_thenTheRequestFails_andTheNextIsSent() {
    isSilent = true;
    submit(acquire(1));
    runAll();
    isSilent = false;
    submit(acquire(2));
    runAll();
    assertThat(answered()).containsExactly(1L, 2L);
    assertThat(replies.get(0)).matches(KeyedBatcherTest::mayHaveRun);
    assertThat(replies.get(1)).isInstanceOf(Reply.Granted.class);
  }

  @Test
  void givenStepOfSeveral_whenTheServerIsSilent_thenTheyDoNotWaitOneByOne() {
    acquireUpTo(2);
    for (int i = 3; i <= 11; i++) {
      submit(acquire(i));
    }
    inFlight.remove().run();
    isSilent = true;
    runAll();
    assertThat(writes).as("one that was made, and one that was lost").isEqualTo(2);
    assertThat(replies).hasSize(9);
    assertThat(replies.get(0)).isInstanceOf(Reply.Queued.class);
    assertThat(replies.subList(1, 9)).allMatch(KeyedBatcherTest::mayHaveRun);
  }

  @Test
  void givenDocumentThatCannotGrow_whenAReleaseSharesAStepWithAcquires_thenOnlyTheyFail() {
    acquireUpTo(5);
    mostSize = lastSize;
    submit(acquire(6));
    submit(acquire(7));
    submit(acquire(8));
    submit(release(1));
    session.submit(
        release(2),
        reply -> {
          replies.add(reply);
          mostSize = Integer.MAX_VALUE;
        });
    submit(acquire(9));
    runAll();
    assertThat(answered()).containsExactly(6L, 1L, 2L, 7L, 8L, 9L);
    assertThat(replies.get(0)).matches(KeyedBatcherTest::mayHaveRun);
    assertThat(replies.subList(1, 3)).allMatch(Reply.Ended.class::isInstance);
    assertThat(replies.subList(3, 6)).allMatch(Reply.Queued.class::isInstance);
  }

  /** Of requests that share a step, as many as fit need no separate step. */
  @Test
  void givenDocumentWithRoomForAll_butOne_when64ShareAStep_thenStepsAreHalved() {
    acquireUpTo(2);
    int before = lastSize;
    submit(acquire(3));
    runAll();
    // Of 64 more, 63 fit.
    mostSize = lastSize + 63 * (lastSize - before) + 63;
    replies.clear();
    writes = 0;
    submit(acquire(4));
    for (int i = 5; i <= 4 + 64; i++) {
      submit(acquire(i));
    }
    runAll();
    assertThat(replies).hasSize(65);
    assertThat(replies.subList(0, 60)).allMatch(Reply.Queued.class::isInstance);
    assertThat(replies).filteredOn(KeyedBatcherTest::mayHaveRun).isNotEmpty().hasSizeLessThan(5);
    assertThat(writes).isLessThan(25);
  }

  @Test
  void givenServerThatRefusesForNow_whenManyShareAStep_thenItIsSentOnce() {
    acquireUpTo(2);
    submit(acquire(3));
    for (int i = 4; i <= 3 + 64; i++) {
      submit(acquire(i));
    }
    isBusy = true;
    runAll();
    assertThat(writes).as("3; the others").isEqualTo(2);
    assertThat(replies).hasSize(65).allMatch(KeyedBatcherTest::mayHaveRun);
  }

  @Test
  void givenManyAcquiresBehindAStep_whenAReleaseComes_thenItIsInTheNextStep() {
    acquireUpTo(2);
    for (int i = 3; i <= 3 + 200; i++) {
      submit(acquire(i));
    }
    submit(release(1));
    runAll();
    assertThat(answered().subList(0, 2)).containsExactly(3L, 1L);
    assertThat(replies.get(1)).isInstanceOf(Reply.Ended.class);
    assertThat(replies).hasSize(202);
  }

  /** A waiter takes more room when it holds. */
  @Test
  void givenDocumentThatCannotGrow_whenAWriterReleasesToManyReaders_thenAsManyAreServedAsFit() {
    int last = 40;
    submit(acquire(1, Mode.EXCLUSIVE));
    for (int i = 2; i <= last; i++) {
      submit(acquire(i, Mode.SHARED));
    }
    runAll();
    mostSize = lastSize;
    replies.clear();
    submit(release(1));
    runAll();
    assertThat(replies)
        .singleElement()
        .isInstanceOfSatisfying(Reply.Ended.class, ended -> assertThat(ended.more()).isTrue());
    assertThat(holders()).isBetween(1L, 10L);
    Set<Long> holding = new TreeSet<>();
    Set<Long> waiting = LongStream.rangeClosed(2, last).boxed().collect(toCollection(TreeSet::new));
    while (!waiting.isEmpty()) {
      replies.clear();
      waiting.forEach(attempt -> submit(acquire(attempt.intValue(), Mode.SHARED)));
      runAll();
      for (Reply reply : replies) {
        if (reply instanceof Reply.Granted granted) {
          waiting.remove(granted.attempt().number());
          holding.add(granted.attempt().number());
        } else {
          assertThat(reply).isInstanceOf(Reply.Queued.class);
        }
      }
      assertThat(holding).as("beside %d who wait", waiting.size()).isNotEmpty();
      long ended = holding.iterator().next();
      holding.remove(ended);
      submit(release((int) ended));
      runAll();
      assertThat(replies).last().isInstanceOf(Reply.Ended.class);
    }
  }

  @Test
  void givenServerThatRefusesForNow_whenAReleaseHandsTheLockOver_thenItFails_andIsTakenOnce() {
    acquireUpTo(2);
    isBusy = true;
    submit(release(1));
    runAll();
    assertThat(replies).singleElement().matches(KeyedBatcherTest::mayHaveRun);
    assertThat(writes).isEqualTo(1);
  }

  /** Otherwise callers would see a busy lock and retry at once. */
  @Test
  void givenFreeLockWhoseDocumentCannotGrow_whenItsWaiterAsks_thenItsRequestFails() {
    acquireUpTo(2);
    mostSize = 0;
    submit(release(1));
    runAll();
    assertThat(replies).singleElement().isInstanceOf(Reply.Failed.class);
    assertThat(writes).as("with a grant, and without").isEqualTo(2);
    mostSize = lastTried;
    replies.clear();
    submit(release(1));
    runAll();
    assertThat(replies).singleElement().isInstanceOf(Reply.Ended.class);
    assertThat(holders()).isZero();
    replies.clear();
    submit(acquire(2));
    runAll();
    assertThat(replies).singleElement().isInstanceOf(Reply.Failed.class);
  }

  @Test
  void givenStepThatWasHalved_whenTheServerIsSilent_thenTheRestShareAStepAgain() {
    acquireUpTo(5);
    mostSize = lastSize;
    for (int i = 6; i <= 10; i++) {
      submit(acquire(i));
    }
    inFlight.remove().run();
    inFlight.remove().run();
    isSilent = true;
    runAll();
    assertThat(answered()).containsExactly(6L, 7L, 8L, 9L, 10L);
    assertThat(writes).as("6; the others; 7 and 8; 9 and 10").isEqualTo(4);
  }

  /** Answers on demand. Refuses locks that are too large. */
  private final class LimitedDocuments implements VersionedDocuments {
    private <T> CompletionStage<T> ask(Supplier<CompletionStage<T>> request) {
      CompletableFuture<T> answer = new CompletableFuture<>();
      inFlight.add(
          () ->
              CompletionStages.copy(
                  isSilent
                      ? CompletableFuture.failedFuture(
                          new StoreUnavailableException("no answer", new TimeoutException()))
                      : request.get(),
                  answer));
      return answer;
    }

    @Override
    public CompletionStage<VersionedText> read(String key) {
      return ask(() -> server.read(key));
    }

    @Override
    public CompletionStage<Written> compareAndSet(
        String key, VersionedText found, @Nullable String text) {
      if (!key.startsWith("lock/") || text == null) {
        return ask(() -> server.compareAndSet(key, found, text));
      }
      writes++;
      return ask(
          () -> {
            lastTried = text.length();
            if (isBusy) {
              return CompletableFuture.failedFuture(new StoreUnavailableException("busy"));
            }
            if (text.length() > mostSize) {
              return CompletableFuture.failedFuture(
                  new StoreUnavailableException(
                      "refused", new DocumentTooLargeException("too large")));
            }
            lastSize = text.length();
            return server.compareAndSet(key, found, text);
          });
    }

    @Override
    public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
      return server.scan(prefix, after, limit);
    }

    @Override
    public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
      return server.watch(key, changed);
    }

    @Override
    public long micros() {
      return 1_700_000_000_000_000L;
    }
  }
}
