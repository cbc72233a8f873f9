package io.mortise.memcached;

import io.mortise.memcached.MetaException.FailureKind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Commands that travel together. Completed by the thread that reads, with a reply to each. */
final class MetaExchange extends CompletableFuture<List<MetaReply>> {
  private final List<MetaCommand> commands;
  private final long number;
  private final List<MetaReply> replies;

  /** The bytes that are sent. */
  final byte[] bytes;

  /** When it was asked for. */
  final long since;

  /** Whether it ends what was sent in one write. Set before it is sent. */
  volatile boolean endsWrite;

  /**
   * Commands that were not sent yet.
   *
   * @param number of the first command; the others follow
   */
  MetaExchange(List<MetaCommand> commands, long number, long since) {
    this.commands = commands;
    this.number = number;
    this.since = since;
    this.replies = new ArrayList<>(commands.size());
    StringBuilder text = new StringBuilder();
    long next = number;
    for (MetaCommand command : commands) {
      text.append(command.text());
      if (command.isMeta()) {
        text.append(" O").append(next);
      }
      text.append("\r\n");
      next++;
    }
    this.bytes = text.toString().getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Takes the next reply.
   *
   * @return whether it was the last
   * @throws MetaException if it answers something else
   */
  boolean add(MetaReply reply) throws MetaException {
    if (commands.get(replies.size()).isMeta()
        && !reply.isError()
        && reply.number('O') != number + replies.size()) {
      throw new MetaException(
          FailureKind.UNANSWERED, "The server answered something else: " + reply.shown(), null);
    }
    replies.add(reply);
    return replies.size() == commands.size();
  }

  /** Those that are there so far. */
  List<MetaReply> replies() {
    return replies;
  }

  void fail(FailureKind kind, String message, @Nullable Throwable cause) {
    completeExceptionally(new MetaException(kind, message, cause));
  }
}
