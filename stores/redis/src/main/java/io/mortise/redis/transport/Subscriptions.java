package io.mortise.redis.transport;

import io.mortise.redis.transport.RespConnection.PendingCommand;
import io.mortise.redis.transport.RespReader.PushMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions of a transport; they outlast its connections. In RESP3 a subscription is
 * answered by a push, which must be told from published messages.
 *
 * <p>A wanted subscription and a confirmed one differ: a server may refuse a subscription, and ends
 * those of a slot that leaves it.
 *
 * <p><b>A subscription to a slot's channel is never ended by a command.</b> When the slot leaves,
 * the server ends it by itself, with the very push that would answer the command, and then refuses
 * the command. A reader that took that push for the answer would give the refusal to the next
 * command, and every later answer to the wrong one. Such a channel stays subscribed, without
 * listeners, until the slot leaves or the connection ends.
 */
final class Subscriptions {
  private final Map<String, Subscription> byChannel = new ConcurrentHashMap<>();

  /** The server's two kinds of channels. */
  enum ChannelKind {
    EVERYWHERE(""),
    IN_SHARD("S");

    private final String prefix;

    ChannelKind(String prefix) {
      this.prefix = prefix;
    }

    private SubscribeCommand wish(String verb, String channel) {
      String word = prefix + verb;
      return new SubscribeCommand(
          new PendingCommand(word.toLowerCase(Locale.ROOT), channel), word, channel);
    }
  }

  private static final class Subscription {
    final ChannelKind kind;
    final Consumer<String> listener;

    /** A command is in flight. */
    volatile boolean asked = true;

    /** The server has confirmed it on the connection in use. */
    volatile boolean confirmed;

    /** The server has refused it, and will do so again. */
    volatile boolean denied;

    Subscription(ChannelKind kind, Consumer<String> listener) {
      this.kind = kind;
      this.listener = listener;
    }
  }

  /** A command to send, with its pending reply. */
  record SubscribeCommand(PendingCommand command, String verb, String channel) {
    String[] words() {
      return new String[] {verb, channel};
    }
  }

  SubscribeCommand begin(String channel, ChannelKind kind, Consumer<String> listener) {
    byChannel.put(channel, new Subscription(kind, listener));
    return kind.wish("SUBSCRIBE", channel);
  }

  /** Null if there is nothing to send. */
  @Nullable SubscribeCommand end(String channel) {
    Subscription subscription = byChannel.remove(channel);
    return subscription == null || subscription.kind == ChannelKind.IN_SHARD
        ? null
        : subscription.kind.wish("UNSUBSCRIBE", channel);
  }

  /** Subscribes to all channels on a new connection. */
  List<SubscribeCommand> anew() {
    List<SubscribeCommand> wishes = new ArrayList<>();
    byChannel.forEach(
        (channel, s) -> {
          s.asked = true;
          wishes.add(s.kind.wish("SUBSCRIBE", channel));
        });
    return wishes;
  }

  /** Subscriptions that are neither confirmed nor in flight. */
  List<SubscribeCommand> again() {
    List<SubscribeCommand> wishes = new ArrayList<>();
    byChannel.forEach(
        (channel, s) -> {
          if (!s.asked && !s.confirmed) {
            s.asked = true;
            wishes.add(s.kind.wish("SUBSCRIBE", channel));
          }
        });
    return wishes;
  }

  /** The connection is gone, and with it the server's state. */
  void lost() {
    byChannel
        .values()
        .forEach(
            s -> {
              s.asked = false;
              s.confirmed = false;
            });
  }

  /** Whether the server passes on messages of the channel, as far as is known. */
  boolean isConfirmed(String channel) {
    Subscription subscription = byChannel.get(channel);
    return subscription != null && subscription.confirmed;
  }

  /** Whether the server has refused to subscribe, and would again. */
  boolean isDenied(String channel) {
    Subscription subscription = byChannel.get(channel);
    return subscription != null && subscription.denied;
  }

  /**
   * The server has refused to subscribe.
   *
   * @param passes whether it may not refuse the next time
   */
  void refused(String channel, boolean passes) {
    Subscription subscription = byChannel.get(channel);
    if (subscription != null) {
      subscription.denied = !passes;
      subscription.confirmed = false;
      subscription.asked = false;
    }
  }

  /** The server has ended a confirmed subscription by itself. */
  void ended(String channel) {
    Subscription subscription = byChannel.get(channel);
    if (subscription != null) {
      subscription.confirmed = false;
    }
  }

  /** Passes on a published message; returns false if the push is another. */
  boolean tell(PushMessage pushMessage) {
    if (!pushMessage.is("message") && !pushMessage.is("smessage")) {
      return false;
    }
    Subscription subscription =
        pushMessage.items().size() == 3 ? byChannel.get(text(pushMessage, 1)) : null;
    if (subscription != null) {
      subscription.listener.accept(text(pushMessage, 2));
    }
    return true;
  }

  static boolean isAnswer(PushMessage pushMessage) {
    return pushMessage.items().size() == 3 && text(pushMessage, 0).endsWith("subscribe");
  }

  /** Completes the oldest pending command, if the push answers it. */
  boolean answer(Queue<PendingCommand> waiting, PushMessage pushMessage) {
    PendingCommand command = waiting.peek();
    if (command == null
        || !isAnswer(pushMessage)
        || !pushMessage.is(String.valueOf(command.kind))
        || !text(pushMessage, 1).equals(command.channel)) {
      return false;
    }
    waiting.poll();
    Subscription subscription = byChannel.get(String.valueOf(command.channel));
    if (subscription != null && isToSubscribe(command)) {
      subscription.asked = false;
      subscription.denied = false;
      subscription.confirmed = true;
    }
    command.complete(null);
    return true;
  }

  static boolean isToSubscribe(PendingCommand command) {
    return "subscribe".equals(command.kind) || "ssubscribe".equals(command.kind);
  }

  /** Null unless the push tells that the server has ended a subscription by itself. */
  static @Nullable String endedBy(PushMessage pushMessage) {
    return isAnswer(pushMessage) && pushMessage.is("sunsubscribe") ? text(pushMessage, 1) : null;
  }

  private static String text(PushMessage pushMessage, int at) {
    return String.valueOf(pushMessage.items().get(at));
  }
}
