package io.mortise.torture.run;

import io.mortise.torture.history.FaultEffect.DelayBound;
import java.util.List;
import java.util.Locale;

/** The faults. */
public enum InjectedFault {
  /** SIGSTOP to a client between its read and write, for longer than the TTL. */
  PAUSE(true, DelayBound.PROCESS, "a client is stopped for longer than the TTL", "client-pause"),
  /** A garbage collection of a full heap, in a client between its read and write. */
  FULL_GC(true, DelayBound.PROCESS, "a client collects a full heap", "client-pause"),
  /** SIGKILL to a client. */
  KILL(true, DelayBound.PROCESS, "a client is killed", "client-crash"),
  /** SIGKILL to a client that waits in a queue and holds nothing. */
  KILL_WAITER(true, DelayBound.WAITER, "a client that only waits is killed", "client-crash"),
  /** SIGKILL to several clients in turn, which wait in one queue and hold nothing. */
  KILL_CHAIN(
      true,
      DelayBound.WAITER,
      "clients that stand in one queue are killed, one after the other",
      "client-crash"),
  /** A client is cut off for longer than the TTL; its messages arrive afterwards. */
  CUT_OFF(
      true,
      DelayBound.PROCESS,
      "a client is cut off for longer than the TTL, and its requests arrive late",
      "partition",
      "slow-network"),
  /** A client's connections are closed at the server, without the client's knowledge. */
  HALF_OPEN(
      true,
      DelayBound.PROCESS,
      "a client's connections are half open: nothing tells it",
      "partition"),
  /** A client's network has a latency of 20 to 200 ms. */
  SLOW(true, DelayBound.SLOW, "a client's network is slow", "slow-network"),
  /** A client's requests are executed, but the replies are lost. */
  LOST_REPLIES(
      true,
      DelayBound.LOST_WORD,
      "a client's requests are done, and the replies lost",
      "partition"),
  /** A client's requests are lost, while messages of the server arrive. */
  LOST_REQUESTS(true, DelayBound.LOST_WORD, "a client's requests are lost", "partition"),
  /** All of a client's connections break. */
  RESET(true, DelayBound.LOST_WORD, "a client's connections break", "partition"),
  /** SIGSTOP to the server, for longer than the TTL. */
  SERVER_PAUSE(
      false, DelayBound.STORE, "the server is stopped for longer than the TTL", "partition"),
  /** SIGKILL to the server, which is restarted with its disk. */
  SERVER_CRASH(false, DelayBound.STORE, "the server is killed and started again", "server-crash"),
  /** The server's disk loses unforced writes. */
  POWER_CUT(
      false,
      DelayBound.STORE,
      "the server's power is cut, with what the disk did not have",
      "power-loss"),
  /** Failover to a replica that lacks the last writes. */
  FAILOVER(false, DelayBound.STORE, "a replica takes over that lags", "failover"),
  /** The servers are partitioned from each other. */
  SPLIT(false, DelayBound.STORE, "a server is cut off from the others", "partition-servers"),
  /** The server's clock is set forward by more than the TTL. */
  CLOCK_FORWARD(
      false, DelayBound.STORE, "the server's clock is set forward", "server-clock-forward"),
  /** The server's clock is set back by as much. */
  CLOCK_BACK(false, DelayBound.STORE, "the server's clock is set back", "server-clock-back"),
  /** The server loses all data. */
  FORGET(false, DelayBound.STORE, "the server forgets everything", "lost-data"),
  /** SIGKILL to the server, which is restarted with an empty disk. */
  RESTART_EMPTY(
      false,
      DelayBound.STORE,
      "the server is killed and started again without its data",
      "lost-data"),
  /** The server forgets its scripts. */
  SCRIPT_FLUSH(false, DelayBound.LOST_WORD, "the server forgets its scripts"),
  /** The server breaks its connections for pushes, or all if it cannot distinguish them. */
  PUSH_LOSS(false, DelayBound.LOST_WORD, "the server breaks its push connections");

  private final boolean onClient;
  private final DelayBound delay;
  private final String text;

  /** Separated by commas. */
  private final String cells;

  InjectedFault(boolean onClient, DelayBound delay, String text, String... cells) {
    this.onClient = onClient;
    this.delay = delay;
    this.text = text;
    this.cells = String.join(",", cells);
  }

  /** Whether it needs no support by the server. */
  boolean isOnClient() {
    return onClient;
  }

  /** Whether it affects processes that only wait in a queue. */
  boolean isOnWaiter() {
    return this == KILL_WAITER || this == KILL_CHAIN;
  }

  /** The bound of its delays. */
  DelayBound delay() {
    return delay;
  }

  /** Its columns in the guarantee table. */
  public List<String> cells() {
    return cells.isEmpty() ? List.of() : List.of(cells.split(",", -1));
  }

  /** Its description, for people. */
  public String text() {
    return text;
  }

  /** Its name in options. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
