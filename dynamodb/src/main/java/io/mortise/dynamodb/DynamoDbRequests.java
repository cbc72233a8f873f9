package io.mortise.dynamodb;

import io.mortise.StoreUnavailableException;
import io.mortise.internal.runtime.CompletionStages;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * Requests of a client that blocks, on threads of their own: callers never wait. Further requests
 * wait for a thread, and fail after twice the timeout. One that has failed so is never sent.
 * Thread-safe.
 */
final class DynamoDbRequests implements AutoCloseable {
  private final DynamoDbClient client;
  private final DynamoDbTarget target;
  private final AwsRequestOverrideConfiguration options;
  private final ThreadPoolExecutor threads;

  /**
   * Sends nothing yet.
   *
   * @param client stays open when this is closed
   * @param purpose what its threads are called by
   * @param most how many requests are in flight at a time
   */
  DynamoDbRequests(DynamoDbClient client, DynamoDbTarget target, String purpose, int most) {
    this.client = client;
    this.target = target;
    this.options = options(target);
    this.threads =
        new ThreadPoolExecutor(
            most,
            most,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "mortise-dynamodb-" + purpose);
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * No retries: one of a conditional write would meet what the first try has written, and report
   * that as another's.
   */
  private static AwsRequestOverrideConfiguration options(DynamoDbTarget target) {
    return AwsRequestOverrideConfiguration.builder()
        .apiCallTimeout(target.timeout())
        .addPlugin(
            config ->
                config.overrideConfiguration(
                    config.overrideConfiguration().toBuilder()
                        .retryStrategy(DefaultRetryStrategy.doNotRetry())
                        .build()))
        .build();
  }

  DynamoDbTarget target() {
    return target;
  }

  /** What each request must have. */
  AwsRequestOverrideConfiguration options() {
    return options;
  }

  /**
   * Sends requests, one after the other.
   *
   * @param exchange may block
   * @return completes exceptionally as {@link io.mortise.spi.document.VersionedDocuments} says
   */
  <T> CompletionStage<T> send(Function<DynamoDbClient, T> exchange) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    try {
      threads.execute(() -> run(exchange, answer));
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(
          new StoreUnavailableException("The store is closed (store=" + target + ").", e));
    }
    // The client keeps its own timeout, unless it waits for a name server.
    return answer
        .orTimeout(target.timeout().toMillis() * 2, TimeUnit.MILLISECONDS)
        .handle(
            (result, failure) -> {
              if (failure == null) {
                return result;
              }
              throw new CompletionException(
                  DynamoDbRefusal.translated(CompletionStages.cause(failure), target));
            });
  }

  private <T> void run(Function<DynamoDbClient, T> exchange, CompletableFuture<T> answer) {
    if (!answer.isDone()) {
      try {
        answer.complete(exchange.apply(client));
      } catch (RuntimeException | Error e) {
        answer.completeExceptionally(e);
      }
    }
  }

  /** Refuses further requests. */
  @Override
  public void close() {
    threads.shutdown();
  }
}
