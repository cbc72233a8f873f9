package io.mortise.dynamodb;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.DaemonThreads;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.retries.StandardRetryStrategy;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbResponse;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbResponseMetadata;

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
   * @param purpose names its threads
   * @param most how many requests are in flight at a time
   */
  DynamoDbRequests(DynamoDbClient client, DynamoDbTarget target, String purpose, int most) {
    this.client = client;
    this.target = target;
    this.options = options(target);
    this.threads =
        new ThreadPoolExecutor(
            1,
            most,
            10,
            TimeUnit.SECONDS,
            new IdleThreadsFirst(),
            DaemonThreads.named("mortise-dynamodb-" + purpose),
            DynamoDbRequests::enqueue);
    threads.allowCoreThreadTimeOut(true);
  }

  /** Takes a task only if a thread waits for it; else the pool starts one more, up to its bound. */
  private static final class IdleThreadsFirst extends LinkedTransferQueue<Runnable> {
    private static final long serialVersionUID = 1L;

    @Override
    public boolean offer(Runnable task) {
      return tryTransfer(task);
    }
  }

  /** All threads are busy: the task waits for the first that is not. */
  private static void enqueue(Runnable task, ThreadPoolExecutor threads) {
    if (threads.isShutdown()) {
      throw new RejectedExecutionException("closed");
    }
    ((IdleThreadsFirst) threads.getQueue()).put(task);
  }

  /**
   * No retries: one of a conditional write would meet what the first try has written, and report
   * that as another's. A request that is refused for the time of its signature was not executed,
   * and the SDK has learnt the service's time from the refusal: it is sent once more.
   */
  private static AwsRequestOverrideConfiguration options(DynamoDbTarget target) {
    return AwsRequestOverrideConfiguration.builder()
        .apiCallTimeout(target.timeout())
        .addPlugin(
            config ->
                config.overrideConfiguration(
                    config.overrideConfiguration().toBuilder()
                        .retryStrategy(
                            StandardRetryStrategy.builder()
                                .useClientDefaults(false)
                                .maxAttempts(2)
                                .retryOnException(DynamoDbRefusal::isOfClock)
                                .backoffStrategy(BackoffStrategy.retryImmediately())
                                .build())
                        .build()))
        .build();
  }

  DynamoDbTarget target() {
    return target;
  }

  /** The options that each request must have. */
  AwsRequestOverrideConfiguration options() {
    return options;
  }

  /**
   * An answer, if DynamoDB has given it. An empty one of a proxy must not make a lock look free,
   * nor a write look made.
   *
   * @throws StoreUnfitException if it has no request id
   */
  <R extends DynamoDbResponse> R proven(R answer) {
    DynamoDbResponseMetadata metadata = answer.responseMetadata();
    // Null only in an answer that came from no server, as a test of the application may make it.
    if (metadata != null && metadata.requestId().equals("UNKNOWN")) {
      throw StoreUnfitException.notWritable(
          "What answers is not DynamoDB, or a proxy before it leaves out its headers (store=%s)."
              .formatted(target));
    }
    return answer;
  }

  /**
   * Sends requests, one after the other.
   *
   * @param exchange may block
   * @return completes exceptionally as {@link io.mortise.support.document.VersionedDocuments} says
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
