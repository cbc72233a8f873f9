package io.mortise.quorum;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.AttemptId;
import io.mortise.testkit.Seed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Clients, members and their faults, in virtual time and from a seed: members forget, clients are
 * cut off or die, messages are late or lost, operators evict. The fault rates differ from world to
 * world. The quorum store itself is the real one.
 *
 * <p>Promises, checked after each event: one client believes at a time; tokens are unique, and
 * greater than those of every grant that was answered before the acquire began; each request is
 * answered once. At the end, without faults, no member has traces of an abandoned attempt, no
 * session keeps one that its client has finished, and the lock is available.
 */
final class QuorumSimulation {
  static final String EXCLUSION = "two believe that they hold";
  static final String TOKENS = "a token went back or was given twice";
  static final String LEFTOVER = "something is left of an attempt that was ended";
  static final String KEPT = "an attempt is kept that its client is done with";

  static final String SHUT = "the lock cannot be had though nobody holds it";
  static final String ANSWERS = "a request was answered twice";

  private static final int CLIENTS = 3;
  private static final int STEPS = 250;
  private static final Duration STEP = Duration.ofSeconds(50);

  private final SimNetwork network;
  private final QuorumRules rules;
  private final FaultRates faultRates;
  private final List<SimMember> members;
  private final List<SimClient> clients = new ArrayList<>();
  private final Set<Long> tokens = new HashSet<>();
  private long highest;
  private int grants;
  private @Nullable String broken;

  /** Fault rates: one in that many steps, or messages. */
  private record FaultRates(
      int forgets, int cuts, int isolations, int deaths, int evictions, int keeps, int polls) {
    static FaultRates draw(SimNetwork network) {
      network.lossOneIn = network.oneOf(4, 8, 20, 60);
      network.patience = Duration.ofSeconds(network.oneOf(40, 200));
      network.strayOneIn = network.oneOf(3, 1_000_000);
      return new FaultRates(
          network.oneOf(5, 12, 40),
          network.oneOf(3, 8, 30),
          network.oneOf(12, 30, 100),
          network.oneOf(25, 80),
          network.oneOf(15, 60, 1_000),
          network.oneOf(2, 4, 100),
          network.oneOf(2, 4, 100));
    }
  }

  /** The result of a run. */
  record SimulationOutcome(@Nullable String broken, int grants, String trace) {}

  private QuorumSimulation(Seed seed, QuorumRules rules, boolean traces) {
    this.network = new SimNetwork(seed.random(), traces);
    this.rules = rules;
    this.faultRates = FaultRates.draw(network);
    this.members =
        SimNetwork.listOf(network.oneIn(4) ? 5 : 3, index -> new SimMember(network, index));
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(newClient());
    }
  }

  private SimClient newClient() {
    return new SimClient(this, network, members, rules, faultRates.keeps(), faultRates.polls());
  }

  /** Runs it; after a broken promise, once more to record how it came about. */
  static SimulationOutcome run(long seed, QuorumRules rules) {
    SimulationOutcome simulationOutcome = run(seed, rules, false);
    return simulationOutcome.broken() == null ? simulationOutcome : run(seed, rules, true);
  }

  private static SimulationOutcome run(long seed, QuorumRules rules, boolean traces) {
    QuorumSimulation world = new QuorumSimulation(new Seed(seed), rules, traces);
    try {
      world.live();
      if (world.broken == null) {
        world.end();
      }
      if (world.broken == null) {
        world.ask();
      }
      return new SimulationOutcome(world.broken, world.grants, world.network.trace());
    } finally {
      world.clients.forEach(SimClient::close);
    }
  }

  long highestToken() {
    return highest;
  }

  void granted(long token, long before) {
    grants++;
    if (!tokens.add(token) || token <= before) {
      broken = TOKENS;
    }
    highest = Math.max(highest, token);
  }

  void answeredTwice() {
    broken = ANSWERS;
  }

  private void look() {
    if (clients.stream().filter(SimClient::believes).count() > 1) {
      broken = EXCLUSION;
    }
  }

  private void live() {
    for (int i = 0; i < STEPS && broken == null; i++) {
      trouble();
      for (SimClient client : clients) {
        if (network.random.nextBoolean()) {
          network.after(network.upTo(STEP), () -> client.act(true));
        }
        if (i % 4 == 0) {
          network.after(network.upTo(STEP), client::renew);
        }
      }
      network.pass(STEP, this::look);
    }
  }

  private void trouble() {
    SimClient client = clients.get(network.random.nextInt(CLIENTS));
    int member = network.random.nextInt(members.size());
    if (network.oneIn(faultRates.forgets())) {
      members.get(member).forget();
      // Faults come in clusters.
      if (network.oneIn(3)) {
        isolate(clients.get(network.random.nextInt(CLIENTS)));
      }
    }
    if (network.oneIn(faultRates.cuts())) {
      SimNetwork.SimConnection simConnection = client.remoteMembers.get(member).simConnection;
      simConnection.cut = true;
      network.after(network.upTo(SimClient.TTL.multipliedBy(2)), () -> simConnection.cut = false);
    }
    if (network.oneIn(faultRates.isolations())) {
      isolate(client);
    }
    if (network.oneIn(faultRates.evictions())) {
      clients.forEach(holder -> holder.evictThrough(client));
    }
    if (network.oneIn(faultRates.deaths())) {
      client.die();
      clients.set(clients.indexOf(client), newClient());
    }
  }

  private void isolate(SimClient client) {
    client.remoteMembers.forEach(link -> link.simConnection.cut = true);
    network.after(
        network.upTo(SimClient.TTL.multipliedBy(2)),
        () -> client.remoteMembers.forEach(link -> link.simConnection.cut = false));
  }

  /** No faults any more, and all clients release their holds. */
  private void end() {
    network.isBad = false;
    clients.forEach(client -> client.remoteMembers.forEach(link -> link.simConnection.cut = false));
    for (int i = 0; i < 40 && broken == null; i++) {
      boolean renews = i % 4 == 0;
      for (SimClient client : clients) {
        network.after(Duration.ofMillis(1), () -> client.act(false));
        if (renews) {
          network.after(Duration.ofMillis(2), client::renew);
        }
      }
      network.pass(STEP, this::look);
    }
    boolean idle = clients.stream().allMatch(SimClient::isIdle);
    if (broken == null && idle) {
      for (SimMember member : members) {
        for (LockInfo view : member.look(SimClient.LOCK)) {
          for (LockParticipant holder : view.holders()) {
            // The holds of an ended session are free for any client.
            if (!holder.sessionLeft().isZero() && isOfTheLiving(holder)) {
              network.tell(member, "has", holder);
              broken = LEFTOVER;
            }
          }
        }
      }
      for (SimClient client : clients) {
        if (broken == null && client.remembered() > 0) {
          network.tell(client, "keeps", client.remembered());
          broken = KEPT;
        }
      }
    }
  }

  /** One of them alone requests the lock, with a few attempts. */
  private void ask() {
    int before = grants;
    SimClient last = clients.get(0);
    last.insists = true;
    for (int i = 0; i < 40 && broken == null && grants == before; i++) {
      network.after(Duration.ofMillis(1), () -> last.act(true));
      if (i % 4 == 0) {
        clients.forEach(client -> network.after(Duration.ofMillis(2), client::renew));
      }
      network.pass(STEP, this::look);
    }
    if (broken == null && grants == before) {
      broken = SHUT;
    }
  }

  private boolean isOfTheLiving(LockParticipant holder) {
    return clients.stream()
        .map(SimClient::id)
        .anyMatch(
            id ->
                id != null
                    && MemberIds.sameSession(id, AttemptId.parse(holder.attempt()).session()));
  }
}
