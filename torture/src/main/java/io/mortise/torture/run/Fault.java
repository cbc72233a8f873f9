package io.mortise.torture.run;

import java.util.Locale;

/** What can go wrong. */
public enum Fault {
  /** SIGSTOP to a client that is between reading and writing, for longer than the TTL. */
  PAUSE(true, "a client is stopped for longer than the TTL"),
  /** SIGKILL to a client. */
  KILL(true, "a client is killed"),
  /** A client is cut off for longer than the TTL; what it sent arrives when that is over. */
  CUT_OFF(true, "a client is cut off for longer than the TTL, and its requests arrive late"),
  /** A client's network takes 20 to 200 ms. */
  SLOW(true, "a client's network is slow"),
  /** What a client asks for is done, and it never hears of it. */
  LOST_REPLIES(true, "a client's requests are done, and the replies lost"),
  /** All of a client's connections break. */
  RESET(true, "a client's connections break"),
  /** SIGSTOP to the server, for longer than the TTL. */
  SERVER_PAUSE(false, "the server is stopped for longer than the TTL"),
  /** SIGKILL to the server, which is started again with what it had on its disk. */
  SERVER_CRASH(false, "the server is killed and started again"),
  /** The server forgets all that it knew. */
  FORGET(false, "the server forgets everything"),
  /**
   * The server breaks the connections by which it pushes, or all if it does not tell them apart.
   */
  PUSH_LOSS(false, "the server breaks its push connections");

  private final boolean onClient;
  private final String text;

  Fault(boolean onClient, String text) {
    this.onClient = onClient;
    this.text = text;
  }

  /** Whether it needs nothing of the server. */
  boolean isOnClient() {
    return onClient;
  }

  /** What it does, for people. */
  public String text() {
    return text;
  }

  /** As users write it. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
