package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnavailableException;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** One document, used directly and through a proxy that delays or loses messages. */
final class DocumentFaultChecks implements AutoCloseable {
  private static final String KEY = "lock/a";

  private static final String WATCHED = "session/a";

  /** Much less than the timeout of a request. */
  private static final Duration SOON = Duration.ofSeconds(5);

  /** The time in which an adapter detects a broken connection; a timeout is ten seconds or more. */
  private static final Duration NOTICE = Duration.ofSeconds(1);

  private final VersionedDocuments direct;
  private final int port;
  private final VersionedText found;
  private final FaultInjectionProxy proxy;
  private final VersionedDocuments proxied;

  /**
   * Writes the document, and connects through the proxy.
   *
   * @param port of the server
   * @param behind opens the documents behind the proxy's port
   */
  DocumentFaultChecks(
      VersionedDocuments direct, int port, IntFunction<? extends VersionedDocuments> behind) {
    this.direct = direct;
    this.port = port;
    assertThat(BoundedWait.join(direct.compareAndSet(KEY, read(), "first")).made()).isTrue();
    this.found = read();
    this.proxy = FaultInjectionProxy.to(port);
    try {
      this.proxied = behind.apply(proxy.port());
      assertThat(BoundedWait.join(proxied.read(KEY))).isEqualTo(found);
    } catch (RuntimeException | Error e) {
      proxy.close();
      throw e;
    }
  }

  private VersionedText read() {
    return BoundedWait.join(direct.read(KEY));
  }

  private CompletableFuture<Written> write(VersionedDocuments documents, String text) {
    return documents.compareAndSet(KEY, found, text).toCompletableFuture();
  }

  /**
   * Asserts the outcome of a write that reaches the server late.
   *
   * @param meanwhile whether another write is executed before
   */
  void assertLateWrite(boolean meanwhile) {
    proxy.condition(NetworkCondition.REQUESTS_HELD);
    CompletableFuture<Written> late = write(proxied, "late");
    if (meanwhile) {
      assertThat(BoundedWait.join(write(direct, "end")).made()).isTrue();
    }
    assertThat(late).isNotDone();
    proxy.condition(NetworkCondition.FAIR);
    assertThat(BoundedWait.join(late).made()).isNotEqualTo(meanwhile);
    assertThat(read().text()).isEqualTo(meanwhile ? "end" : "late");
  }

  /**
   * Has the server execute a write, and breaks the connection before the answer.
   *
   * @param oneRequest whether no answer is needed before the last one
   * @param patience the time that the write may take
   */
  void assertLostAnswer(boolean oneRequest, Duration patience) {
    proxy.condition(oneRequest ? NetworkCondition.ANSWERS_HELD : NetworkCondition.ANSWERS_LATE);
    CompletableFuture<Written> lost = write(proxied, "lost");
    BoundedWait.until(patience, "the write was made", () -> "lost".equals(read().text()));
    proxy.reset();
    // A repeated write is answered.
    proxy.condition(NetworkCondition.FAIR);
    BoundedWait.until(
        SOON, "the write whose connection broke was answered, before its timeout", lost::isDone);
    assertThat(lost)
        .as("the answer to a write that was made, and whose own answer was lost")
        .satisfiesAnyOf(
            answer ->
                assertThatThrownBy(() -> BoundedWait.join(answer))
                    .hasCauseInstanceOf(StoreUnavailableException.class),
            answer -> assertThat(BoundedWait.join(answer).made()).isTrue());
  }

  /**
   * Blocks all traffic until all calls have returned. A call that waited for its answer would
   * return only after its timeout, when earlier requests have failed.
   */
  void assertNoCallWaits(boolean pushes) {
    proxy.condition(NetworkCondition.FROZEN);
    List<CompletableFuture<?>> answers = BoundedWait.join(calling(pushes));
    assertThat(answers)
        .as("answers to a read, a write and a list that were held")
        .noneMatch(CompletableFuture::isDone);
    proxy.condition(NetworkCondition.FAIR);
    answers.forEach(BoundedWait::join);
  }

  /** Breaks all connections, and leaves new ones unanswered until all calls have returned. */
  void assertNoCallWaitsToConnect(boolean pushes, Duration patience) {
    proxy.condition(NetworkCondition.FROZEN);
    proxy.reset();
    CompletableFuture<?> calls = calling(pushes);
    BoundedWait.until(atMost(SOON, patience), "all calls returned", calls::isDone);
    var unused = BoundedWait.join(calls);
    proxy.condition(NetworkCondition.FAIR);
  }

  private static Duration atMost(Duration bound, Duration patience) {
    return bound.compareTo(patience) < 0 ? bound : patience;
  }

  private CompletableFuture<List<CompletableFuture<?>>> calling(boolean pushes) {
    return CompletableFuture.supplyAsync(() -> callAll(pushes), DocumentFaultChecks::inCaller);
  }

  private static void inCaller(Runnable task) {
    new Thread(task, "caller").start();
  }

  /** Has other threads call while a caller handles its answer. */
  void assertNoLockIsHeld(Duration patience) {
    proxy.condition(NetworkCondition.ANSWERS_HELD);
    long returnMillis = BoundedWait.scaled(atMost(SOON, patience)).toMillis();
    Function<Object, Boolean> another =
        answer ->
            CompletableFuture.supplyAsync(() -> proxied.read(KEY), DocumentFaultChecks::inCaller)
                .thenApply(called -> true)
                .completeOnTimeout(false, returnMillis, TimeUnit.MILLISECONDS)
                .join();
    List<CompletionStage<Boolean>> returned =
        List.of(
            proxied.read(KEY).thenApply(another),
            write(proxied, "next").thenApply(another),
            proxied.scan("lock/", "", 10).thenApply(another));
    proxy.condition(NetworkCondition.FAIR);
    assertThat(returned)
        .as("whether a call returns while a read, a write and a list are told")
        .allMatch(BoundedWait::join);
  }

  /** Breaks connections, refuses new ones for a while, then accepts them. */
  void assertOutage(Duration patience) {
    List<CompletableFuture<?>> answers = new ArrayList<>();
    proxy.condition(NetworkCondition.ANSWERS_HELD);
    answers.addAll(readAndScan());
    proxy.cut();
    proxy.condition(NetworkCondition.FAIR);
    answers.addAll(readAndScan());
    assertThat(answers)
        .as("reads and lists without an answer fail with a StoreUnavailableException")
        .allMatch(answer -> BoundedWait.join(answer.handle(this::isTrueOrUnavailable)));
    proxy.lead(port);
    BoundedWait.until(patience, "a write was made after the outage", () -> isWritten(KEY));
    assertThat(BoundedWait.join(proxied.read(KEY))).isEqualTo(read());
  }

  private List<CompletableFuture<?>> readAndScan() {
    return List.of(
        proxied.read(KEY).toCompletableFuture(),
        proxied.scan("lock/", "", 10).toCompletableFuture());
  }

  /** An adapter may also retry by itself. */
  private boolean isTrueOrUnavailable(@Nullable Object answer, @Nullable Throwable failure) {
    return failure == null
        ? found.equals(answer) || List.of(KEY).equals(answer)
        : failure instanceof StoreUnavailableException
            || failure.getCause() instanceof StoreUnavailableException;
  }

  private boolean isWritten(String key) {
    return BoundedWait.join(
        proxied
            .read(key)
            .thenCompose(stands -> proxied.compareAndSet(key, stands, "again"))
            .thenApply(Written::made)
            .exceptionally(failure -> false));
  }

  /** Breaks connections, including those of watches. */
  void assertWatchIsMadeAnew(Duration patience) {
    AtomicInteger told = new AtomicInteger();
    proxied.watch(WATCHED, found -> told.incrementAndGet());
    DocumentsFixture.writeOnce(proxied, WATCHED);
    DocumentsFixture.writeUntil(patience, direct, WATCHED, () -> told.get() > 0);
    proxy.condition(NetworkCondition.ANSWERS_HELD);
    CompletableFuture<Written> lost = write(proxied, "lost");
    BoundedWait.until(BoundedWait.ANSWER, "the write was made", () -> "lost".equals(read().text()));
    proxy.reset();
    proxy.condition(NetworkCondition.FAIR);
    // Most adapters notice at once. For others the writes below go on until their timeout.
    var unused =
        BoundedWait.join(
            lost.handle((written, failure) -> true)
                .completeOnTimeout(
                    true, BoundedWait.scaled(NOTICE).toMillis(), TimeUnit.MILLISECONDS));
    BoundedWait.until(patience, "a write was made after the break", () -> isWritten(WATCHED));
    int before = told.get();
    DocumentsFixture.writeUntil(patience, direct, WATCHED, () -> told.get() > before);
  }

  private List<CompletableFuture<?>> callAll(boolean pushes) {
    List<CompletableFuture<?>> answers = new ArrayList<>();
    answers.add(proxied.read(KEY).toCompletableFuture());
    answers.add(write(proxied, "next"));
    answers.add(proxied.scan("lock/", "", 10).toCompletableFuture());
    // There may be nothing to forget; watches have no answer.
    var unused = proxied.forget("lock/b");
    if (pushes) {
      proxied.watch(WATCHED, found -> {});
    }
    return answers;
  }

  @Override
  public void close() {
    proxy.close();
  }
}
