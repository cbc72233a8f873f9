package io.mortise.jdbc;

import java.util.concurrent.CompletionStage;

/** How a server wakes this process when news was left for one of its sessions; a hint only. */
interface Push extends AutoCloseable {
  /** Somebody waits from now on. */
  void hurry();

  /** Whether news is heard now, so that polling may be slow. */
  boolean works();

  @Override
  void close();

  /** Speaks on a connection that is not the listener's. */
  @FunctionalInterface
  interface Voice {
    /** Completes when it is committed. */
    CompletionStage<Boolean> say(String channel, String payload);
  }
}
