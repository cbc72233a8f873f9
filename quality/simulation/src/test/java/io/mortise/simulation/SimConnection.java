package io.mortise.simulation;

import io.mortise.StoreUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A connection and those that replace it: first in, first out, until it breaks. */
final class SimConnection {
  private final String name;
  private final VirtualTimeScheduler virtualTimeScheduler;
  private final SimServer server;
  private final SimProcess simProcess;
  private final SimTransport wire;
  private final List<PendingCall<?>> pending = new ArrayList<>();
  private long lastArrival;
  private long lastReply;
  private long connectedAt;
  private long requestsCutUntil;
  private long repliesCutUntil;

  /**
   * @param mayHaveRun false only if the request surely never runs
   */
  record CallFailure(boolean mayHaveRun, StoreUnavailableException cause) {}

  private static final class PendingCall<T> {
    final Supplier<T> step;
    final Consumer<T> answer;
    final Consumer<CallFailure> callFailure;
    final long sentAt;
    boolean done;
    boolean executed;
    boolean orphaned;
    VirtualTimeScheduler.ScheduledEvent timeout;

    PendingCall(
        Supplier<T> step, Consumer<T> answer, Consumer<CallFailure> callFailure, long sentAt) {
      this.step = step;
      this.answer = answer;
      this.callFailure = callFailure;
      this.sentAt = sentAt;
    }
  }

  SimConnection(
      String name,
      VirtualTimeScheduler virtualTimeScheduler,
      SimServer server,
      SimProcess simProcess,
      SimTransport wire) {
    this.name = name;
    this.virtualTimeScheduler = virtualTimeScheduler;
    this.server = server;
    this.simProcess = simProcess;
    this.wire = wire;
  }

  <T> void send(Supplier<T> step, Consumer<T> answer, Consumer<CallFailure> callFailure) {
    PendingCall<T> pendingCall =
        new PendingCall<>(step, answer, callFailure, virtualTimeScheduler.now());
    if (connectedAt > virtualTimeScheduler.now()) {
      virtualTimeScheduler.at(
          virtualTimeScheduler.now() + wire.delay(),
          simProcess,
          () -> fail(pendingCall, false, "not connected"));
      return;
    }
    pending.add(pendingCall);
    pendingCall.timeout =
        virtualTimeScheduler.at(
            virtualTimeScheduler.now() + wire.timeout(),
            simProcess,
            () -> fail(pendingCall, true, "no answer in time"));
    if (wire.happens(SimFault.LATE_REQUEST)) {
      if (wire.keepsOrder) {
        shatter(true);
      } else {
        virtualTimeScheduler.at(
            wire.late(virtualTimeScheduler.now(), pendingCall.sentAt),
            () -> arriveAlone(pendingCall));
      }
      return;
    }
    if (wire.happens(SimFault.LOST_REQUEST)) {
      return;
    }
    if (wire.happens(SimFault.DUPLICATE)) {
      virtualTimeScheduler.at(
          wire.late(virtualTimeScheduler.now(), pendingCall.sentAt),
          () -> arriveAlone(pendingCall));
    }
    lastArrival = inTurn(lastArrival);
    virtualTimeScheduler.at(
        lastArrival + (name.equals("renewals") ? wire.renewalDelay() : 0),
        () -> arrive(pendingCall));
  }

  /** The arrival time of the next message, after one that arrived at {@code last}. */
  private long inTurn(long last) {
    long arrival = virtualTimeScheduler.now() + wire.delay();
    return wire.keepsOrder ? Math.max(last, arrival) : arrival;
  }

  private <T> void arrive(PendingCall<T> pendingCall) {
    if (pendingCall.orphaned || !reaches(pendingCall)) {
      return;
    }
    if (server.pausedUntil() > virtualTimeScheduler.now()) {
      virtualTimeScheduler.at(server.pausedUntil(), () -> arrive(pendingCall));
      return;
    }
    pendingCall.executed = true;
    T reply = pendingCall.step.get();
    if (repliesCutUntil > virtualTimeScheduler.now() || wire.happens(SimFault.LOST_REPLY)) {
      return;
    }
    lastReply = inTurn(lastReply);
    virtualTimeScheduler.at(lastReply, simProcess, () -> finish(pendingCall, reply));
  }

  /** A copy or straggler: nobody waits for its reply. */
  private <T> void arriveAlone(PendingCall<T> pendingCall) {
    if (!reaches(pendingCall)) {
      return;
    }
    if (server.pausedUntil() > virtualTimeScheduler.now()) {
      virtualTimeScheduler.at(server.pausedUntil(), () -> arriveAlone(pendingCall));
      return;
    }
    virtualTimeScheduler.trace(() -> "a straggler of " + simProcess + " arrives:");
    T reply = pendingCall.step.get();
    assert reply != null;
  }

  private boolean reaches(PendingCall<?> pendingCall) {
    boolean inTime =
        virtualTimeScheduler.now() - pendingCall.sentAt <= wire.maxInFlight()
            || wire.forgetsMaxInFlight;
    return inTime && !server.isDown() && requestsCutUntil <= virtualTimeScheduler.now();
  }

  private <T> void finish(PendingCall<T> pendingCall, T reply) {
    if (!pendingCall.done && !pendingCall.orphaned) {
      pendingCall.done = true;
      pendingCall.timeout.cancel();
      pending.remove(pendingCall);
      pendingCall.answer.accept(reply);
    }
  }

  private void fail(PendingCall<?> pendingCall, boolean mayHaveRun, String why) {
    if (!pendingCall.done) {
      pendingCall.done = true;
      if (pendingCall.timeout != null) {
        pendingCall.timeout.cancel();
      }
      pending.remove(pendingCall);
      pendingCall.callFailure.accept(
          new CallFailure(mayHaveRun, new StoreUnavailableException(why)));
    }
  }

  /**
   * Breaks the connection. Requests in flight lose their reply; unless executed already they are
   * lost, or arrive late and out of order.
   */
  void shatter(boolean stragglers) {
    virtualTimeScheduler.trace(() -> "the " + name + " of " + simProcess + " break off");
    for (PendingCall<?> pendingCall : pending) {
      if (pendingCall.orphaned) {
        continue;
      }
      pendingCall.orphaned = true;
      if (!pendingCall.executed && stragglers) {
        virtualTimeScheduler.at(
            wire.late(virtualTimeScheduler.now(), pendingCall.sentAt),
            () -> arriveAlone(pendingCall));
      }
      virtualTimeScheduler.at(
          virtualTimeScheduler.now() + 10 * VirtualTimeScheduler.MICRO,
          simProcess,
          () -> fail(pendingCall, true, "connection reset"));
    }
    connectedAt = virtualTimeScheduler.now() + 20 * VirtualTimeScheduler.MICRO + wire.delay();
  }

  void cut(boolean there, boolean back, long until) {
    requestsCutUntil = there ? until : requestsCutUntil;
    repliesCutUntil = back ? until : repliesCutUntil;
  }

  void heal() {
    requestsCutUntil = 0;
    repliesCutUntil = 0;
  }

  void push(Runnable delivery) {
    if (wire.happensAlways(SimFault.PUSH_LOST) || repliesCutUntil > virtualTimeScheduler.now()) {
      return;
    }
    if (wire.happensAlways(SimFault.PUSH_DUPLICATE)) {
      virtualTimeScheduler.at(
          wire.late(virtualTimeScheduler.now(), virtualTimeScheduler.now()), simProcess, delivery);
    }
    if (wire.happensAlways(SimFault.PUSH_LATE)) {
      virtualTimeScheduler.at(
          wire.late(virtualTimeScheduler.now(), virtualTimeScheduler.now()), simProcess, delivery);
      return;
    }
    lastReply = inTurn(lastReply);
    virtualTimeScheduler.at(lastReply, simProcess, delivery);
  }
}
