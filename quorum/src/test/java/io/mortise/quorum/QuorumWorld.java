package io.mortise.quorum;

import io.mortise.spi.LockView;
import io.mortise.testkit.Seed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Clients, members, and what goes wrong with them, in virtual time and from a seed: members forget,
 * clients are cut off or die, messages are late or lost. The quorum store itself is the real one.
 *
 * <p>Promises, looked at after each event: one believes at a time; tokens are unique, and greater
 * than those of every grant that was answered before the acquire began; and at the end, when
 * nothing goes wrong any more, no member has anything of an attempt that was given up.
 */
final class QuorumWorld {
  static final String EXCLUSION = "two believe that they hold";
  static final String TOKENS = "a token went back or was given twice";
  static final String LEFTOVER = "something is left of an attempt that was ended";

  private static final int CLIENTS = 3;
  private static final int STEPS = 250;
  private static final Duration STEP = Duration.ofSeconds(50);

  private final SimNetwork network;
  private final QuorumRules rules;
  private final List<SimMember> members;
  private final List<SimClient> clients = new ArrayList<>();
  private final Set<Long> tokens = new HashSet<>();
  private long highest;
  private int grants;
  private @Nullable String broken;

  /** What came of one. */
  record Outcome(@Nullable String broken, int grants, String trace) {}

  private QuorumWorld(Seed seed, QuorumRules rules) {
    this.network = new SimNetwork(seed.random());
    this.rules = rules;
    this.members =
        SimNetwork.listOf(network.oneIn(4) ? 5 : 3, index -> new SimMember(network, index));
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(newClient());
    }
  }

  private SimClient newClient() {
    return new SimClient(this, network, members, rules);
  }

  static Outcome run(long seed, QuorumRules rules) {
    QuorumWorld world = new QuorumWorld(new Seed(seed), rules);
    try {
      world.live();
      if (world.broken == null) {
        world.end();
      }
      return new Outcome(world.broken, world.grants, world.network.trace());
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
    if (network.oneIn(12)) {
      members.get(member).forget();
    }
    if (network.oneIn(8)) {
      SimNetwork.Line line = client.links.get(member).line;
      line.cut = true;
      network.after(network.upTo(SimClient.TTL), () -> line.cut = false);
    }
    if (network.oneIn(25)) {
      client.die();
      clients.set(clients.indexOf(client), newClient());
    }
  }

  /** Nothing goes wrong any more, and all give back what they have. */
  private void end() {
    network.isBad = false;
    clients.forEach(client -> client.links.forEach(link -> link.line.cut = false));
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
    if (broken == null && clients.stream().allMatch(SimClient::isIdle)) {
      for (SimMember member : members) {
        for (LockView view : member.look(SimClient.LOCK)) {
          for (LockView.Party holder : view.holders()) {
            // What a session held that has ended there is anybody's who wants it.
            if (!holder.sessionLeft().isZero() && isOfTheLiving(holder)) {
              network.tell(member, "has " + holder);
              broken = LEFTOVER;
            }
          }
        }
      }
    }
  }

  private boolean isOfTheLiving(LockView.Party holder) {
    return clients.stream()
        .map(SimClient::id)
        .anyMatch(id -> id != null && MemberIds.sameSession(id, holder.attempt().session()));
  }
}
