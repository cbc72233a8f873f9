package io.mortise.memcached;

import io.mortise.memcached.MetaException.FailureKind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Commands that travel together. Completed by the thread that reads, with a reply to each. */
final class MetaExchange extends CompletableFuture<List<MetaReply>> {
  final List<MetaCommand> commands;

  /** Whether the first command reads the server's clock, which must not be behind. */
  final boolean readsClock;

  /** The number of the first command, the others follow. Set when it is sent. */
  long number;

  private final List<MetaReply> replies = new ArrayList<>();

  MetaExchange(List<MetaCommand> commands, boolean readsClock) {
    this.commands = commands;
    this.readsClock = readsClock;
  }

  /**
   * Takes the next reply.
   *
   * @return whether it was the last
   * @throws MetaException if it answers something else
   */
  boolean add(MetaReply reply) throws MetaException {
    MetaCommand command = commands.get(replies.size());
    if (command.isMeta()
        && !reply.isError()
        && !reply.flag('O').equals(Long.toString(number + replies.size()))) {
      throw new MetaException(
          FailureKind.UNANSWERED, "The server answered something else: " + reply.shown(), null);
    }
    replies.add(reply);
    return replies.size() == commands.size();
  }

  List<MetaReply> replies() {
    return replies;
  }
}
