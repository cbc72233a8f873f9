package io.mortise.redis.transport;

import io.mortise.redis.transport.RespConnection.PendingCommand;
import io.mortise.redis.transport.RespReader.ProtocolException;
import io.mortise.redis.transport.RespReader.PushMessage;
import io.mortise.support.internal.server.ReadOwnership;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Routes the input of a {@link DirectTransport}'s connection: each reply to the command that has
 * waited longest, and pushes. Called by the reading thread, one at a time.
 */
final class ReplyRouter {
  private static final Logger log = LoggerFactory.getLogger(DirectTransport.class);

  private final Subscriptions subscriptions;
  private final Resubscriber resubscriber;
  private final ReadOwnership readOwnership;
  private final TransportListener listener;

  /** Refusals of subscriptions on this connection that were already logged. */
  private final Set<String> refusals = ConcurrentHashMap.newKeySet();

  ReplyRouter(
      Subscriptions subscriptions,
      Resubscriber resubscriber,
      ReadOwnership readOwnership,
      TransportListener listener) {
    this.subscriptions = subscriptions;
    this.resubscriber = resubscriber;
    this.readOwnership = readOwnership;
    this.listener = listener;
  }

  /** The next connection may accept a subscription that this one refused. */
  void connectionLost() {
    refusals.clear();
  }

  /** Reads one reply or push, and passes it to its receiver. */
  void readOne(RespConnection respConnection) throws IOException {
    Object reply = respConnection.read();
    if (reply instanceof PushMessage pushMessage) {
      readOwnership.recallReader();
      pushed(respConnection, pushMessage);
    } else {
      answered(respConnection, reply);
    }
  }

  private void answered(RespConnection respConnection, @Nullable Object reply) throws IOException {
    PendingCommand command = respConnection.waiting.poll();
    if (command == null) {
      throw new ProtocolException("an answer to nothing");
    }
    if (reply instanceof ErrorReplyException error) {
      if (command.channel != null && Subscriptions.isToSubscribe(command)) {
        refused(respConnection, command.channel, error);
      }
      command.completeExceptionally(error);
    } else if (command.kind != null) {
      throw new ProtocolException("an answer to a subscription");
    } else {
      command.complete(reply);
    }
  }

  private void pushed(RespConnection respConnection, PushMessage pushMessage) throws IOException {
    if (subscriptions.tell(pushMessage)
        || subscriptions.answer(respConnection.waiting, pushMessage)) {
      return;
    }
    String ended = Subscriptions.endedBy(pushMessage);
    if (ended != null) {
      // The slot of the channel has moved. It may be back before a look at the cluster notices.
      subscriptions.ended(ended);
      resubscriber.after(Resubscriber.SOON);
      listener.reconnected();
    } else if (Subscriptions.isAnswer(pushMessage)) {
      throw new ProtocolException("a subscription that nobody asked for");
    }
  }

  private void refused(RespConnection respConnection, String channel, ErrorReplyException error) {
    boolean moved = error.is("MOVED") || error.is("ASK") || error.is("TRYAGAIN");
    boolean passes =
        moved
            || error.is("BUSY")
            || error.is("LOADING")
            || error.is("CLUSTERDOWN")
            || error.is("MASTERDOWN");
    subscriptions.refused(channel, passes);
    if (moved) {
      resubscriber.after(Resubscriber.SOON);
      return;
    }
    resubscriber.after(passes ? Resubscriber.LATER : Resubscriber.MUCH_LATER);
    if (refusals.add(String.valueOf(error.getMessage()).split(" ", 2)[0])) {
      log.warn(
          "Redis at {} refuses a subscription: {}. Waiting for a lock takes longer until it does"
              + " not; it is asked again.",
          respConnection.endpoint(),
          error.getMessage());
    }
  }
}
