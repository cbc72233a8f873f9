package io.mortise.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.curator.FleetClient.LockShare;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.Seed;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Real clients of Curator and ours on one path, by a random schedule, beside a model of one fair
 * queue. After each step the holders must be exactly the model's, and the nodes exactly those of
 * its queue.
 *
 * <p>{@code -Dmortise.seed=…} repeats a run; {@code -Dmortise.curator.steps=…} sets how many steps
 * a run has.
 */
@Tag("extended")
class CuratorScheduleTest {
  private static final int STEPS = Integer.getInteger("mortise.curator.steps", 60);

  private final MixedFleet mixedFleet = new MixedFleet();
  private final List<FleetClient> fleetClients = new ArrayList<>();
  private final List<String> steps = new ArrayList<>();

  /** The clients in the queue, holders included, in order of arrival. */
  private final List<FleetClient> line = new ArrayList<>();

  @AfterEach
  void closeFleet() throws Exception {
    mixedFleet.close();
  }

  @ParameterizedTest
  @EnumSource
  @Timeout(1200)
  void givenRandomScheduleOfBothSides_thenExactlyThoseHoldWhomAFairQueueLetsHold(
      FleetClient.LockedObject lockedObject) throws Exception {
    Seed seed = Seed.draw();
    System.out.println("CuratorScheduleTest runs " + lockedObject + " with " + seed);
    RandomGenerator random = seed.random();
    for (int i = 0; i < 3; i++) {
      fleetClients.add(new MortiseFleetClient("ours" + i, mixedFleet, lockedObject));
      fleetClients.add(new CuratorFleetClient("theirs" + i, mixedFleet, lockedObject));
    }
    int restartAt = random.nextInt(STEPS);
    try {
      for (int i = 0; i < STEPS; i++) {
        step(fleetClients.get(random.nextInt(fleetClients.size())), lockedObject, random);
        if (i == restartAt) {
          steps.add("restart");
          MixedFleet.server().restart();
        }
        awaitModel(lockedObject);
      }
      for (FleetClient fleetClient : List.copyOf(fleetClients)) {
        while (line.contains(fleetClient)) {
          FleetClient next = line.stream().filter(FleetClient::holds).findFirst().orElseThrow();
          line.remove(next);
          next.leave();
          awaitModel(lockedObject);
        }
      }
    } catch (Exception | AssertionError e) {
      throw new AssertionError(
          "Repeat with " + seed + ". " + present(lockedObject) + " Steps: " + steps, e);
    }
  }

  private void step(
      FleetClient fleetClient, FleetClient.LockedObject lockedObject, RandomGenerator random)
      throws Exception {
    if (!line.contains(fleetClient)) {
      LockShare lockShare = fleetClient.draw(lockedObject, random);
      if (random.nextInt(4) == 0) {
        line.add(fleetClient);
        fleetClient.takes(lockShare);
        boolean expected = holding(lockedObject).contains(fleetClient);
        steps.add(fleetClient + " tries as " + lockShare + ": " + expected);
        boolean got = fleetClient.tries(lockShare);
        assertThat(got).as("%s tries", fleetClient).isEqualTo(expected);
        if (!got) {
          line.remove(fleetClient);
        }
      } else {
        line.add(fleetClient);
        steps.add(fleetClient + " enters as " + lockShare);
        fleetClient.enters(lockShare);
      }
    } else if (!fleetClient.holds()) {
      if (fleetClient.givesUp()) {
        steps.add(fleetClient + " gives up");
        line.remove(fleetClient);
      }
    } else if (random.nextInt(12) == 0) {
      steps.add(fleetClient + " expires");
      line.remove(fleetClient);
      fleetClient.expires();
    } else {
      steps.add(fleetClient + " leaves");
      line.remove(fleetClient);
      fleetClient.leave();
    }
  }

  /** The holders in a fair queue. */
  private Set<FleetClient> holding(FleetClient.LockedObject lockedObject) {
    Set<FleetClient> holding = new HashSet<>();
    int used = 0;
    boolean writer = false;
    for (FleetClient fleetClient : line) {
      LockShare lockShare = fleetClient.part();
      switch (lockedObject) {
        case MUTEX -> {
          if (holding.isEmpty()) {
            holding.add(fleetClient);
          }
        }
        case READ_WRITE -> {
          boolean first = fleetClient == line.get(0);
          if (lockShare.reads() ? !writer : first) {
            holding.add(fleetClient);
          }
          writer |= !lockShare.reads();
        }
        case SEMAPHORE -> {
          used += lockShare.permits();
          if (used > FleetClient.PERMITS) {
            return holding;
          }
          holding.add(fleetClient);
        }
      }
    }
    return holding;
  }

  private void awaitModel(FleetClient.LockedObject lockedObject) {
    Set<FleetClient> expected = holding(lockedObject);
    BoundedWait.until(
        MixedFleet.LONG,
        "after " + steps.get(steps.size() - 1) + " exactly " + expected + " held",
        () ->
            fleetClients.stream()
                    .filter(FleetClient::holds)
                    .collect(Collectors.toSet())
                    .equals(expected)
                && areNodes(lockedObject, expected));
  }

  /** The expected state, and the actual one. */
  private String present(FleetClient.LockedObject lockedObject) {
    String path = mixedFleet.path(FleetClient.LOCK);
    List<FleetClient> hold = fleetClients.stream().filter(FleetClient::holds).toList();
    return "Line: %s. Hold: %s, and should: %s. Nodes: %s, %s, %s."
        .formatted(
            line,
            hold,
            holding(lockedObject),
            mixedFleet.nodes(path),
            mixedFleet.nodes(path + "/locks"),
            mixedFleet.nodes(path + "/leases"));
  }

  private boolean areNodes(FleetClient.LockedObject lockedObject, Set<FleetClient> holding) {
    if (lockedObject != FleetClient.LockedObject.SEMAPHORE) {
      return mixedFleet.nodes(mixedFleet.path(FleetClient.LOCK)).size() == line.size();
    }
    List<FleetClient> waiting =
        line.stream().filter(fleetClient -> !holding.contains(fleetClient)).toList();
    // The first in line has made its leases already.
    int leases =
        holding.stream().mapToInt(fleetClient -> fleetClient.part().permits()).sum()
            + (waiting.isEmpty() ? 0 : waiting.get(0).part().permits());
    return mixedFleet.nodes(mixedFleet.path(FleetClient.LOCK + "/locks")).size() == waiting.size()
        && mixedFleet.nodes(mixedFleet.path(FleetClient.LOCK + "/leases")).size() == leases;
  }
}
