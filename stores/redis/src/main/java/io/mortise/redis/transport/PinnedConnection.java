package io.mortise.redis.transport;

import io.mortise.redis.transport.RedisTransport.TransportConnection;
import io.mortise.redis.transport.RespConnection.PendingCommand;
import io.mortise.redis.transport.RespConnection.ReplicaWait;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a {@link DirectTransport} that was in use when this was made. While a WAIT is
 * in flight, all callers join the next one. So a caller is delayed by two WAITs at most, however
 * many locks share the connection.
 */
final class PinnedConnection implements TransportConnection {
  private final DirectTransport transport;
  private final @Nullable RespConnection respConnection;

  PinnedConnection(DirectTransport transport, @Nullable RespConnection respConnection) {
    this.transport = transport;
    this.respConnection = respConnection;
  }

  @Override
  public CompletionStage<@Nullable Object> call(String... words) {
    PendingCommand command = new PendingCommand();
    if (!transport.sendOn(respConnection, command, words)) {
      command.completeExceptionally(new NotSentException(transport.outageReason()));
    }
    return command;
  }

  @Override
  public CompletionStage<Long> acknowledged(int replicas, Duration timeout) {
    transport.writing.lock();
    try {
      if (respConnection == null || !transport.isCurrent(respConnection)) {
        return CompletableFuture.failedStage(new NotSentException(transport.outageReason()));
      }
      if (respConnection.waitNext == null) {
        respConnection.waitNext = new ReplicaWait(replicas, timeout);
      }
      ReplicaWait mine = respConnection.waitNext;
      mine.alsoFor(replicas);
      if (respConnection.waitInFlight == null) {
        sendWait(respConnection);
      }
      return mine.acknowledged;
    } finally {
      transport.writing.unlock();
    }
  }

  /** Called under the lock. */
  private void sendWait(RespConnection respConnection) {
    ReplicaWait replicaWait = respConnection.waitNext;
    respConnection.waitNext = null;
    respConnection.waitInFlight = replicaWait;
    if (replicaWait != null) {
      var unused =
          replicaWait.command.whenComplete(
              (answer, failure) -> waited(respConnection, replicaWait, answer, failure));
      if (!transport.sendOn(respConnection, replicaWait.command, replicaWait.words())) {
        replicaWait.command.completeExceptionally(new NotSentException(transport.outageReason()));
      }
    }
  }

  private void waited(
      RespConnection respConnection,
      ReplicaWait replicaWait,
      @Nullable Object answer,
      @Nullable Throwable failure) {
    ReplicaWait lost = null;
    transport.writing.lock();
    try {
      respConnection.waitInFlight = null;
      if (transport.isCurrent(respConnection)) {
        sendWait(respConnection);
      } else {
        lost = respConnection.waitNext;
        respConnection.waitNext = null;
      }
    } finally {
      transport.writing.unlock();
    }
    if (failure != null) {
      replicaWait.acknowledged.completeExceptionally(failure);
    } else {
      replicaWait.acknowledged.complete(answer instanceof Long count ? count : 0L);
    }
    if (lost != null) {
      lost.acknowledged.completeExceptionally(
          new IOException("The connection broke before replicas were asked."));
    }
  }
}
