package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnavailableException;
import io.mortise.spi.document.VersionedDocuments;
import io.mortise.spi.document.VersionedDocuments.VersionedText;
import io.mortise.spi.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;

/** One document, used directly and through a proxy that holds or loses what is sent. */
final class DocumentFaultChecks implements AutoCloseable {
  private static final String KEY = "lock/a";

  /** Less than the timeout of a request, which is ten seconds at least. */
  private static final Duration SOON = Duration.ofSeconds(8);

  private final VersionedDocuments direct;
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
   * The server gets a write late.
   *
   * @param meanwhile whether another one is made before
   */
  void assertLateWrite(boolean meanwhile) {
    proxy.weather(NetworkCondition.REQUESTS_HELD);
    CompletableFuture<Written> late = write(proxied, "late");
    if (meanwhile) {
      assertThat(BoundedWait.join(write(direct, "end")).made()).isTrue();
    }
    assertThat(late).isNotDone();
    proxy.weather(NetworkCondition.FAIR);
    assertThat(BoundedWait.join(late).made()).isNotEqualTo(meanwhile);
    assertThat(read().text()).isEqualTo(meanwhile ? "end" : "late");
  }

  /**
   * The server makes a write, and the connection breaks before its answer has come.
   *
   * @param patience how long the write may take
   */
  void assertLostAnswer(Duration patience) {
    proxy.weather(NetworkCondition.ANSWERS_HELD);
    CompletableFuture<Written> lost = write(proxied, "lost");
    BoundedWait.until(patience, "the write was made", () -> "lost".equals(read().text()));
    proxy.reset();
    // If it is sent again, it is answered.
    proxy.weather(NetworkCondition.FAIR);
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
   * The proxy passes nothing on until all calls have returned. A call that waits for its answer
   * returns only after its timeout, when earlier requests have failed.
   */
  void assertNoCallWaits(boolean pushes) {
    proxy.weather(NetworkCondition.FROZEN);
    List<CompletableFuture<?>> answers =
        BoundedWait.join(
            CompletableFuture.supplyAsync(
                () -> callAll(pushes), task -> new Thread(task, "caller").start()));
    assertThat(answers)
        .as("answers to a read, a write and a list that were held")
        .noneMatch(CompletableFuture::isDone);
    proxy.weather(NetworkCondition.FAIR);
    answers.forEach(BoundedWait::join);
  }

  private List<CompletableFuture<?>> callAll(boolean pushes) {
    List<CompletableFuture<?>> answers = new ArrayList<>();
    answers.add(proxied.read(KEY).toCompletableFuture());
    answers.add(write(proxied, "next"));
    answers.add(proxied.scan("lock/", "", 10).toCompletableFuture());
    // There may be nothing to forget, and a watch has no answer.
    var unused = proxied.forget("lock/b");
    if (pushes) {
      proxied.watch("session/a", () -> {});
    }
    return answers;
  }

  @Override
  public void close() {
    proxy.close();
  }
}
