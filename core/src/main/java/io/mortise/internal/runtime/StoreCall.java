package io.mortise.internal.runtime;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.LockStore;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Calls a store and waits for the answer; converts its failures to those of the API. */
public final class StoreCall {
  /** The time limit of a call to a store without a timeout of its own, in memory. */
  private static final Duration WITHOUT_TIMEOUT = Duration.ofSeconds(5);

  /** The additional time for a page of many locks. */
  private static final Duration PAGE_ALLOWANCE = Duration.ofSeconds(5);

  private final LockStore store;
  private final Runnable refuseIfClosed;

  /** The check runs before each call, and throws if the client is closed. */
  public StoreCall(LockStore store, Runnable refuseIfClosed) {
    this.store = store;
    this.refuseIfClosed = refuseIfClosed;
  }

  /** The time limit of a call: the store's timeout. */
  public static Duration limit(LockStore store) {
    Duration timeout = store.profile().maxInFlight();
    return timeout.isZero() ? WITHOUT_TIMEOUT : timeout;
  }

  /**
   * Blocks for the answer, for the store's timeout at most, and returns it.
   *
   * @throws InterruptedException if this thread is interrupted; the request may be executed
   */
  public <T> T ask(Callable<CompletionStage<T>> question) throws InterruptedException {
    return ask(question, limit(store));
  }

  /** As {@link #ask}, for an answer that needs many requests: 5 s longer at most. */
  public <T> T askPage(Callable<CompletionStage<T>> question) throws InterruptedException {
    return ask(question, limit(store).plus(PAGE_ALLOWANCE));
  }

  private <T> T ask(Callable<CompletionStage<T>> question, Duration limit)
      throws InterruptedException {
    try {
      return start(question, limit).get();
    } catch (ExecutionException e) {
      throw told(e.getCause(), limit);
    }
  }

  /** As {@link #ask}, but an interrupt does not end the wait; the flag is set at the end. */
  public <T> T askUninterruptibly(Callable<CompletionStage<T>> question) {
    // The store may use this thread for its I/O, which an interrupt would end.
    boolean interrupted = Thread.interrupted();
    try {
      return start(question, limit(store)).join();
    } catch (CompletionException e) {
      throw told(e.getCause(), limit(store));
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private <T> CompletableFuture<T> start(Callable<CompletionStage<T>> question, Duration limit) {
    refuseIfClosed.run();
    return CompletionStages.start(question)
        .toCompletableFuture()
        .copy()
        .orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS);
  }

  private RuntimeException told(@Nullable Throwable failure, Duration limit) {
    Throwable cause = CompletionStages.cause(failure);
    String display = store.profile().display();
    if (cause instanceof LockException failed) {
      LockException trouble = known(failed);
      trouble.addSuppressed(new LockException("asked here"));
      return trouble;
    } else if (cause instanceof IllegalArgumentException wrong) {
      return wrong;
    } else if (cause instanceof TimeoutException && cause.getMessage() == null) {
      return noAnswer(store, limit, cause);
    }
    return new StoreUnavailableException(
        FailureText.about(display, FailureText.said(cause)), cause);
  }

  /** The failure of a request that was not answered in time. */
  public static StoreUnavailableException noAnswer(
      LockStore store, Duration limit, Throwable cause) {
    return new StoreUnavailableException(
        "Store '%s' did not answer within %s."
            .formatted(store.profile().display(), DurationText.format(limit)),
        cause);
  }

  /** The failure of an open store: a store that cannot serve now is not unfit, but unavailable. */
  public static LockException known(LockException failure) {
    return failure instanceof StoreUnfitException unfit && unfit.isNotWritable()
        ? new StoreUnavailableException(FailureText.said(unfit), unfit)
        : failure;
  }
}
