package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.redis.codec.KeySpace;
import io.mortise.redis.transport.StubTransport;
import io.mortise.spi.time.Ticker;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations while code that the pipeline calls throws. */
class ScriptPipelineTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final FailingTransport transport = new FailingTransport();
  private final ScriptPipeline pipeline =
      new ScriptPipeline(
          transport,
          new StoreClock(TIMEOUT, Ticker.SYSTEM.nanos(), 0),
          new KeySpace("test:"),
          Duration.ofMinutes(1),
          TIMEOUT,
          Ticker.SYSTEM);

  @AfterEach
  void close() {
    transport.close();
  }

  /** Answers each operation of a script; fails once on demand. */
  private static final class FailingTransport extends StubTransport {
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final CompletableFuture<Void> answers = new CompletableFuture<>();
    private volatile String where = "";

    private void reach(String here) {
      if (where.equals(here)) {
        where = "";
        throw new OutOfMemoryError("unable to create native thread");
      }
    }

    @Override
    public void schedule(Runnable task, Duration delay) {
      var unused = timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean isOpen() {
      reach("isOpen");
      return true;
    }

    @Override
    public CompletionStage<@Nullable Object> call(String... words) {
      reach("call");
      int operations = Integer.parseInt(words[2]) - new KeySpace("test:").guards().size();
      return answers.thenApply(none -> Collections.nCopies(operations, "answer"));
    }

    @Override
    public void close() {
      timer.shutdownNow();
    }
  }

  /** The answer to an operation, or its failure. */
  private CompletableFuture<String> submit() {
    CompletableFuture<String> answer = new CompletableFuture<>();
    submit(answer::complete, answer::completeExceptionally);
    return answer;
  }

  private void submit(Consumer<String> answered, Consumer<Throwable> failed) {
    pipeline.submit(
        null,
        "key",
        "s",
        new ScriptPipeline.OperationCallback() {
          @Override
          public void answered(String text) {
            answered.accept(text);
          }

          @Override
          public void failed(boolean mayHaveRun, Throwable cause) {
            failed.accept(cause);
          }
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"isOpen", "call"})
  void givenTransportThatThrows_thenTheOperationIsAnswered_andSoIsTheNext(String where) {
    transport.answers.complete(null);
    transport.where = where;
    CompletableFuture<String> first = submit();
    String told = BoundedWait.join(first.handle((answer, failure) -> answer + " " + failure));
    assertThat(told)
        .isEqualTo(
            where.equals("isOpen")
                ? "answer null"
                : "null java.lang.OutOfMemoryError: unable to create native thread");
    assertThat(BoundedWait.join(submit())).isEqualTo("answer");
  }

  @Test
  void givenReceiverThatThrows_thenTheOthersOfItsBatchAreAnswered() {
    CompletableFuture<String> before = submit();
    CompletableFuture<String> also = submit();
    submit(
        text -> {
          throw new IllegalStateException(text);
        },
        failure -> {});
    CompletableFuture<String> after = submit();
    transport.answers.complete(null);
    for (CompletableFuture<String> each : List.of(before, also, after)) {
      assertThat(BoundedWait.join(each)).isEqualTo("answer");
    }
  }
}
