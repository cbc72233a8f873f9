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
 * Who listens to which channels of a transport; they outlast its connections. In RESP3 a
 * subscription is answered by a push, which therefore has to be told from what is published.
 *
 * <p>That somebody wants to listen and that the server passes on what is published are two things:
 * a server may refuse a subscription, and ends those of a slot that leaves it.
 *
 * <p><b>The end of a subscription to a slot's channel is not sent.</b> The server ends it by itself
 * when the slot leaves, with the very push that would be the answer to the command, while the
 * command is then refused. A reader that took that push for the answer would give the refusal to
 * the next command, and from then on each answer to the wrong one. Such a channel is told to nobody
 * until the slot leaves or the connection ends.
 */
final class Subscriptions {
  private final Map<String, Subscription> byChannel = new ConcurrentHashMap<>();

  /** The two kinds of channels of the server. */
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

    /** A command is on its way. */
    volatile boolean asked = true;

    /** The server has confirmed it, on the connection in use. */
    volatile boolean confirmed;

    /** The server has refused it, and not for a while. */
    volatile boolean denied;

    Subscription(ChannelKind kind, Consumer<String> listener) {
      this.kind = kind;
      this.listener = listener;
    }
  }

  /** What is to be sent, and what waits for its answer. */
  record SubscribeCommand(PendingCommand command, String verb, String channel) {
    String[] words() {
      return new String[] {verb, channel};
    }
  }

  SubscribeCommand begin(String channel, ChannelKind kind, Consumer<String> listener) {
    byChannel.put(channel, new Subscription(kind, listener));
    return kind.wish("SUBSCRIBE", channel);
  }

  /** Null if nothing is to be sent. */
  @Nullable SubscribeCommand end(String channel) {
    Subscription subscription = byChannel.remove(channel);
    return subscription == null || subscription.kind == ChannelKind.IN_SHARD
        ? null
        : subscription.kind.wish("UNSUBSCRIBE", channel);
  }

  /** All of them, for a new connection. */
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

  /** The connection is gone, and with it what the server knew. */
  void lost() {
    byChannel
        .values()
        .forEach(
            s -> {
              s.asked = false;
              s.confirmed = false;
            });
  }

  /** Whether the server passes on what is published there, as far as is known. */
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

  /** The server has ended by itself what it had confirmed. */
  void ended(String channel) {
    Subscription subscription = byChannel.get(channel);
    if (subscription != null) {
      subscription.confirmed = false;
    }
  }

  /** Passes on what was published; returns false if the push is something else. */
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

  /** Completes the command that is the next to be answered, if the push is its answer. */
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
