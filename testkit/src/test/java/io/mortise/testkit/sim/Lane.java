package io.mortise.testkit.sim;

import io.mortise.StoreUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A connection and those that replace it: first in, first out, until it breaks. */
final class Lane {
  private final String name;
  private final World world;
  private final Server server;
  private final Life life;
  private final Wire wire;
  private final List<Call<?>> pending = new ArrayList<>();
  private long lastArrival;
  private long lastReply;
  private long connectedAt;
  private long requestsCutUntil;
  private long repliesCutUntil;

  /**
   * @param mayHaveRun false only if the request surely never runs
   */
  record Failure(boolean mayHaveRun, StoreUnavailableException cause) {}

  private static final class Call<T> {
    final Supplier<T> step;
    final Consumer<T> answer;
    final Consumer<Failure> failure;
    final long sentAt;
    boolean done;
    boolean executed;
    boolean orphaned;
    World.Event timeout;

    Call(Supplier<T> step, Consumer<T> answer, Consumer<Failure> failure, long sentAt) {
      this.step = step;
      this.answer = answer;
      this.failure = failure;
      this.sentAt = sentAt;
    }
  }

  Lane(String name, World world, Server server, Life life, Wire wire) {
    this.name = name;
    this.world = world;
    this.server = server;
    this.life = life;
    this.wire = wire;
  }

  <T> void send(Supplier<T> step, Consumer<T> answer, Consumer<Failure> failure) {
    Call<T> call = new Call<>(step, answer, failure, world.now());
    if (connectedAt > world.now()) {
      world.at(world.now() + wire.delay(), life, () -> fail(call, false, "not connected"));
      return;
    }
    pending.add(call);
    call.timeout =
        world.at(world.now() + wire.timeout(), life, () -> fail(call, true, "no answer in time"));
    if (wire.happens(Fault.LATE_REQUEST)) {
      shatter(true);
      return;
    }
    if (wire.happens(Fault.LOST_REQUEST)) {
      return;
    }
    if (wire.happens(Fault.DUPLICATE)) {
      world.at(wire.late(world.now(), call.sentAt), () -> arriveAlone(call));
    }
    lastArrival = Math.max(lastArrival, world.now() + wire.delay());
    world.at(lastArrival, () -> arrive(call));
  }

  private <T> void arrive(Call<T> call) {
    if (call.orphaned || !reaches(call)) {
      return;
    }
    if (server.pausedUntil() > world.now()) {
      world.at(server.pausedUntil(), () -> arrive(call));
      return;
    }
    call.executed = true;
    T reply = call.step.get();
    if (repliesCutUntil > world.now() || wire.happens(Fault.LOST_REPLY)) {
      return;
    }
    lastReply = Math.max(lastReply, world.now() + wire.delay());
    world.at(lastReply, life, () -> finish(call, reply));
  }

  /** A copy or straggler: nobody waits for its reply. */
  private <T> void arriveAlone(Call<T> call) {
    if (!reaches(call)) {
      return;
    }
    if (server.pausedUntil() > world.now()) {
      world.at(server.pausedUntil(), () -> arriveAlone(call));
      return;
    }
    world.trace(() -> "a straggler of " + life + " arrives:");
    T reply = call.step.get();
    assert reply != null;
  }

  private boolean reaches(Call<?> call) {
    boolean inTime = world.now() - call.sentAt <= wire.maxInFlight() || wire.forgetsMaxInFlight;
    return inTime && !server.isDown() && requestsCutUntil <= world.now();
  }

  private <T> void finish(Call<T> call, T reply) {
    if (!call.done && !call.orphaned) {
      call.done = true;
      call.timeout.cancel();
      pending.remove(call);
      call.answer.accept(reply);
    }
  }

  private void fail(Call<?> call, boolean mayHaveRun, String why) {
    if (!call.done) {
      call.done = true;
      if (call.timeout != null) {
        call.timeout.cancel();
      }
      pending.remove(call);
      call.failure.accept(new Failure(mayHaveRun, new StoreUnavailableException(why)));
    }
  }

  /**
   * The connection breaks: whatever is under way loses its reply; what has not been executed is
   * lost, or arrives late and out of order.
   */
  void shatter(boolean stragglers) {
    world.trace(() -> "the " + name + " of " + life + " break off");
    for (Call<?> call : pending) {
      if (call.orphaned) {
        continue;
      }
      call.orphaned = true;
      if (!call.executed && stragglers) {
        world.at(wire.late(world.now(), call.sentAt), () -> arriveAlone(call));
      }
      world.at(world.now() + 10 * World.MICRO, life, () -> fail(call, true, "connection reset"));
    }
    connectedAt = world.now() + 20 * World.MICRO + wire.delay();
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
    if (wire.happensAlways(Fault.PUSH_LOST) || repliesCutUntil > world.now()) {
      return;
    }
    if (wire.happensAlways(Fault.PUSH_DUPLICATE)) {
      world.at(wire.late(world.now(), world.now()), life, delivery);
    }
    if (wire.happensAlways(Fault.PUSH_LATE)) {
      world.at(wire.late(world.now(), world.now()), life, delivery);
      return;
    }
    lastReply = Math.max(lastReply, world.now() + wire.delay());
    world.at(lastReply, life, delivery);
  }
}
