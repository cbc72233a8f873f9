package io.mortise.zookeeper.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.Seed;
import io.mortise.testkit.Waits;
import io.mortise.zookeeper.curator.Actor.Part;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Real clients of Curator and ours on one path, by a random schedule, beside a model of one fair
 * queue: after each step exactly those must hold whom the model lets hold, and there must be the
 * nodes of those in the queue and no other.
 *
 * <p>{@code -Dmortise.seed=…} repeats a run; {@code -Dmortise.curator.steps=…} sets how many steps
 * a run has.
 */
class CuratorScheduleTest {
  private static final int STEPS = Integer.getInteger("mortise.curator.steps", 60);

  private final Fleet fleet = new Fleet();
  private final List<Actor> actors = new ArrayList<>();
  private final List<String> steps = new ArrayList<>();

  /** Those in the queue, holders included, in the order in which they came. */
  private final List<Actor> line = new ArrayList<>();

  @AfterEach
  void closeFleet() throws Exception {
    fleet.close();
  }

  @ParameterizedTest
  @EnumSource
  @Timeout(1200)
  void givenRandomScheduleOfBothSides_thenExactlyThoseHoldWhomAFairQueueLetsHold(Actor.Kind kind)
      throws Exception {
    Seed seed = Seed.draw();
    System.out.println("CuratorScheduleTest runs " + kind + " with " + seed);
    RandomGenerator random = seed.random();
    for (int i = 0; i < 3; i++) {
      actors.add(new OursInFleet("ours" + i, fleet, kind));
      actors.add(new TheirsInFleet("theirs" + i, fleet, kind));
    }
    int restartAt = random.nextInt(STEPS);
    try {
      for (int i = 0; i < STEPS; i++) {
        step(actors.get(random.nextInt(actors.size())), kind, random);
        if (i == restartAt) {
          steps.add("restart");
          Fleet.server().restart();
        }
        awaitModel(kind);
      }
      for (Actor actor : List.copyOf(actors)) {
        while (line.contains(actor)) {
          Actor next = line.stream().filter(Actor::holds).findFirst().orElseThrow();
          line.remove(next);
          next.leave();
          awaitModel(kind);
        }
      }
    } catch (Exception | AssertionError e) {
      throw new AssertionError(
          "Repeat with " + seed + ". " + present(kind) + " Steps: " + steps, e);
    }
  }

  private void step(Actor actor, Actor.Kind kind, RandomGenerator random) throws Exception {
    if (!line.contains(actor)) {
      Part part = actor.draw(kind, random);
      if (random.nextInt(4) == 0) {
        line.add(actor);
        actor.takes(part);
        boolean expected = holding(kind).contains(actor);
        steps.add(actor + " tries as " + part + ": " + expected);
        boolean got = actor.tries(part);
        assertThat(got).as("%s tries", actor).isEqualTo(expected);
        if (!got) {
          line.remove(actor);
        }
      } else {
        line.add(actor);
        steps.add(actor + " enters as " + part);
        actor.enters(part);
      }
    } else if (!actor.holds()) {
      if (actor.givesUp()) {
        steps.add(actor + " gives up");
        line.remove(actor);
      }
    } else if (random.nextInt(12) == 0) {
      steps.add(actor + " expires");
      line.remove(actor);
      actor.expires();
    } else {
      steps.add(actor + " leaves");
      line.remove(actor);
      actor.leave();
    }
  }

  /** Whom a fair queue lets hold. */
  private Set<Actor> holding(Actor.Kind kind) {
    Set<Actor> holding = new HashSet<>();
    int used = 0;
    boolean writer = false;
    for (Actor actor : line) {
      Part part = actor.part();
      switch (kind) {
        case MUTEX -> {
          if (holding.isEmpty()) {
            holding.add(actor);
          }
        }
        case READ_WRITE -> {
          boolean first = actor == line.get(0);
          if (part.reads() ? !writer : first) {
            holding.add(actor);
          }
          writer |= !part.reads();
        }
        case SEMAPHORE -> {
          used += part.permits();
          if (used > Actor.PERMITS) {
            return holding;
          }
          holding.add(actor);
        }
      }
    }
    return holding;
  }

  private void awaitModel(Actor.Kind kind) {
    Set<Actor> expected = holding(kind);
    Waits.until(
        Fleet.LONG,
        "after " + steps.get(steps.size() - 1) + " exactly " + expected + " held",
        () ->
            actors.stream().filter(Actor::holds).collect(Collectors.toSet()).equals(expected)
                && areNodes(kind, expected));
  }

  /** What is to be, and what is. */
  private String present(Actor.Kind kind) {
    String path = fleet.path(Actor.LOCK);
    List<Actor> hold = actors.stream().filter(Actor::holds).toList();
    return "Line: %s. Hold: %s, and should: %s. Nodes: %s, %s, %s."
        .formatted(
            line,
            hold,
            holding(kind),
            fleet.nodes(path),
            fleet.nodes(path + "/locks"),
            fleet.nodes(path + "/leases"));
  }

  private boolean areNodes(Actor.Kind kind, Set<Actor> holding) {
    if (kind != Actor.Kind.SEMAPHORE) {
      return fleet.nodes(fleet.path(Actor.LOCK)).size() == line.size();
    }
    List<Actor> waiting = line.stream().filter(actor -> !holding.contains(actor)).toList();
    // Whoever is first in line has made its leases already.
    int leases =
        holding.stream().mapToInt(actor -> actor.part().permits()).sum()
            + (waiting.isEmpty() ? 0 : waiting.get(0).part().permits());
    return fleet.nodes(fleet.path(Actor.LOCK + "/locks")).size() == waiting.size()
        && fleet.nodes(fleet.path(Actor.LOCK + "/leases")).size() == leases;
  }
}
