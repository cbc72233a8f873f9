package io.mortise.torture.run;

import io.mortise.torture.history.FaultEffect.DelayBound;
import java.util.List;
import java.util.Locale;

/** What can go wrong. */
public enum InjectedFault {
  /** SIGSTOP to a client that is between reading and writing, for longer than the TTL. */
  PAUSE(true, DelayBound.PROCESS, "a client is stopped for longer than the TTL", "client-pause"),
  /** A garbage collection of a full heap, of a client that is between reading and writing. */
  FULL_GC(true, DelayBound.PROCESS, "a client collects a full heap", "client-pause"),
  /** SIGKILL to a client. */
  KILL(true, DelayBound.PROCESS, "a client is killed", "client-crash"),
  /** SIGKILL to a client that waits in a queue and holds nothing at all. */
  KILL_WAITER(true, DelayBound.WAITER, "a client that only waits is killed", "client-crash"),
  /** SIGKILL to one client after the other, which wait in one queue and hold nothing else. */
  KILL_CHAIN(
      true,
      DelayBound.WAITER,
      "clients that stand in one queue are killed, one after the other",
      "client-crash"),
  /** A client is cut off for longer than the TTL; what it sent arrives when that is over. */
  CUT_OFF(
      true,
      DelayBound.PROCESS,
      "a client is cut off for longer than the TTL, and its requests arrive late",
      "partition",
      "slow-network"),
  /** A client's connections are gone at the server, and it is not told. */
  HALF_OPEN(
      true,
      DelayBound.PROCESS,
      "a client's connections are half open: nothing tells it",
      "partition"),
  /** A client's network takes 20 to 200 ms. */
  SLOW(true, DelayBound.SLOW, "a client's network is slow", "slow-network"),
  /** What a client asks for is done, and it never hears of it. */
  LOST_REPLIES(
      true,
      DelayBound.LOST_WORD,
      "a client's requests are done, and the replies lost",
      "partition"),
  /** What a client asks for does not arrive, while it hears all that the server says. */
  LOST_REQUESTS(true, DelayBound.LOST_WORD, "a client's requests are lost", "partition"),
  /** All of a client's connections break. */
  RESET(true, DelayBound.LOST_WORD, "a client's connections break", "partition"),
  /** SIGSTOP to the server, for longer than the TTL. */
  SERVER_PAUSE(
      false, DelayBound.STORE, "the server is stopped for longer than the TTL", "partition"),
  /** SIGKILL to the server, which is started again with what it had on its disk. */
  SERVER_CRASH(false, DelayBound.STORE, "the server is killed and started again", "server-crash"),
  /** The server's disk loses what was not forced to it. */
  POWER_CUT(
      false,
      DelayBound.STORE,
      "the server's power is cut, with what the disk did not have",
      "power-loss"),
  /** A replica takes over that has not seen the last writes. */
  FAILOVER(false, DelayBound.STORE, "a replica takes over that lags", "failover"),
  /** Servers do not reach each other. */
  SPLIT(false, DelayBound.STORE, "a server is cut off from the others", "partition-servers"),
  /** The server's clock is set forward by more than the TTL. */
  CLOCK_FORWARD(
      false, DelayBound.STORE, "the server's clock is set forward", "server-clock-forward"),
  /** The server's clock is set back by as much. */
  CLOCK_BACK(false, DelayBound.STORE, "the server's clock is set back", "server-clock-back"),
  /** The server forgets all that it knew. */
  FORGET(false, DelayBound.STORE, "the server forgets everything", "lost-data"),
  /** SIGKILL to the server, which is started again with an empty disk. */
  RESTART_EMPTY(
      false,
      DelayBound.STORE,
      "the server is killed and started again without its data",
      "lost-data"),
  /** The server forgets its scripts. */
  SCRIPT_FLUSH(false, DelayBound.LOST_WORD, "the server forgets its scripts"),
  /**
   * The server breaks the connections by which it pushes, or all if it does not tell them apart.
   */
  PUSH_LOSS(false, DelayBound.LOST_WORD, "the server breaks its push connections");

  private final boolean onClient;
  private final DelayBound delay;
  private final String text;

  /** With commas between. */
  private final String cells;

  InjectedFault(boolean onClient, DelayBound delay, String text, String... cells) {
    this.onClient = onClient;
    this.delay = delay;
    this.text = text;
    this.cells = String.join(",", cells);
  }

  /** Whether it needs nothing of the server. */
  boolean isOnClient() {
    return onClient;
  }

  /** Whether it is done to processes that only stand in a queue. */
  boolean isOnWaiter() {
    return this == KILL_WAITER || this == KILL_CHAIN;
  }

  /** For how long it may delay. */
  DelayBound delay() {
    return delay;
  }

  /** The columns of the guarantee table that it is a case of. */
  public List<String> cells() {
    return cells.isEmpty() ? List.of() : List.of(cells.split(",", -1));
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
