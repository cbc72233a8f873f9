package io.mortise.internal.runtime;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.LockStore;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Asks a store, and waits for the answer; its failures become those of the API. */
public final class StoreCall {
  private final LockStore store;
  private final Runnable refuseIfClosed;

  /** Refuses before each question, where the client is closed. */
  public StoreCall(LockStore store, Runnable refuseIfClosed) {
    this.store = store;
    this.refuseIfClosed = refuseIfClosed;
  }

  /** The answer; blocks for it. */
  public <T> T ask(Callable<CompletionStage<T>> question) {
    refuseIfClosed.run();
    String display = store.profile().display();
    Duration patience = store.profile().maxInFlight().plusSeconds(5);
    try {
      return CompletionStages.start(question)
          .toCompletableFuture()
          .get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException("Interrupted while asking store '" + display + "'.", e);
    } catch (TimeoutException e) {
      throw new StoreUnavailableException(
          "Store '" + display + "' did not answer within " + DurationText.format(patience) + ".",
          e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof LockException trouble) {
        trouble.addSuppressed(new LockException("asked here"));
        throw trouble;
      } else if (e.getCause() instanceof IllegalArgumentException wrong) {
        throw wrong;
      }
      throw new StoreUnavailableException(
          FailureText.about(display, FailureText.said(e.getCause() == null ? e : e.getCause())), e);
    }
  }
}
