package io.mortise.redis.wire;

import io.mortise.redis.wire.Link.Command;
import io.mortise.redis.wire.RespReader.Push;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Who listens to which channels of a wire; they outlast its connections. In RESP3 a subscription is
 * answered by a push, which therefore has to be told from what is published.
 */
final class Subscriptions {
  private final Map<String, Subscription> byChannel = new ConcurrentHashMap<>();

  /** The two kinds of channels of the server. */
  enum Kind {
    EVERYWHERE(""),
    IN_SHARD("S");

    private final String prefix;

    Kind(String prefix) {
      this.prefix = prefix;
    }

    private Wish wish(String verb, String channel) {
      String word = prefix + verb;
      return new Wish(new Command(word.toLowerCase(Locale.ROOT), channel), word, channel);
    }
  }

  private record Subscription(Kind kind, Consumer<String> listener) {}

  /** What is to be sent, and what waits for its answer. */
  record Wish(Command command, String verb, String channel) {
    String[] words() {
      return new String[] {verb, channel};
    }
  }

  Wish begin(String channel, Kind kind, Consumer<String> listener) {
    byChannel.put(channel, new Subscription(kind, listener));
    return kind.wish("SUBSCRIBE", channel);
  }

  /** Null if nobody listens there. */
  @Nullable Wish end(String channel) {
    Subscription subscription = byChannel.remove(channel);
    return subscription == null ? null : subscription.kind.wish("UNSUBSCRIBE", channel);
  }

  /** All of them, for a new connection. */
  List<Wish> anew() {
    List<Wish> wishes = new ArrayList<>();
    byChannel.forEach((channel, s) -> wishes.add(s.kind.wish("SUBSCRIBE", channel)));
    return wishes;
  }

  /** Passes on what was published; returns false if the push is something else. */
  boolean tell(Push push) {
    if (!push.is("message") && !push.is("smessage")) {
      return false;
    }
    Subscription subscription = push.items().size() == 3 ? byChannel.get(text(push, 1)) : null;
    if (subscription != null) {
      subscription.listener().accept(text(push, 2));
    }
    return true;
  }

  static boolean isAnswer(Push push) {
    return push.items().size() == 3 && text(push, 0).endsWith("subscribe");
  }

  /** Completes the command that is the next to be answered, if the push is its answer. */
  boolean answer(Queue<Command> waiting, Push push) {
    Command command = waiting.peek();
    if (command == null
        || !isAnswer(push)
        || !push.is(String.valueOf(command.kind))
        || !text(push, 1).equals(command.channel)) {
      return false;
    }
    waiting.poll();
    command.complete(null);
    return true;
  }

  private static String text(Push push, int at) {
    return String.valueOf(push.items().get(at));
  }
}
