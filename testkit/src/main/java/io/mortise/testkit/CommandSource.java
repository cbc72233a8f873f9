package io.mortise.testkit;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockName;
import io.mortise.spi.LockStore.Eviction;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.Terms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Draws the commands of a differential run: few sessions and names, so that they meet often; many
 * repetitions, late arrivals and mix-ups, for these are what stores get wrong. In a calm run there
 * are many names, and locks are released soon, so that most are free or held by one, as most are in
 * life: stores have shorter ways for that, and give them up for a name that was contended.
 */
final class CommandSource {
  private static final List<LockName> NAMES =
      List.of(LockName.of("a/b"), LockName.of("{é}"), LockName.of("permits"), LockName.of("x'y"));
  private static final int PERMITS = 3;

  /** Above every clock of the next hundred years, below 2^53. */
  private static final long FLOOR = 8_000_000_000_000_000L;

  private static final List<LockName> MANY_NAMES =
      Stream.concat(
              NAMES.stream(),
              IntStream.range(0, 24).mapToObj(number -> LockName.of("calm/" + number)))
          .toList();

  private final RandomGenerator random;
  private final boolean calm;
  private final List<LockName> names;
  private final StoreProfile store;
  private final List<SessionId> live = new ArrayList<>();
  private final List<SessionId> dead = new ArrayList<>();
  private final List<Request.Acquire> asked = new ArrayList<>();
  private long numbers;

  private CommandSource(RandomGenerator random, boolean calm, Set<Capability> capabilities) {
    this.random = random;
    this.calm = calm;
    this.names = calm ? MANY_NAMES : NAMES;
    this.store =
        new StoreProfile("drawn for", capabilities, Duration.ZERO, Duration.ZERO, Duration.ZERO);
  }

  /** Every second seed is of a calm run. */
  static List<Command> draw(Seed seed, int steps, Set<Capability> capabilities) {
    CommandSource source = new CommandSource(seed.random(), seed.value() % 2 == 0, capabilities);
    List<Command> commands = new ArrayList<>();
    while (commands.size() < steps) {
      source.next(commands);
    }
    return commands;
  }

  private void next(List<Command> commands) {
    if (live.size() < 2 || (live.size() < 4 && chance(5))) {
      SessionId opened = SessionId.random(random);
      live.add(opened);
      commands.add(new Command.Renew(opened));
      return;
    }
    int dice = random.nextInt(100);
    if (dice < 30) {
      Request.Acquire request = suiting(pick(live), names);
      asked.add(request);
      commands.add(new Command.Acquire(request, proof()));
    } else if (dice < 44 && !asked.isEmpty()) {
      // Sent again: a poll, or a late arrival; now and then without a place in the queue.
      Request.Acquire again = recent();
      commands.add(new Command.Acquire(again, proof()));
    } else if (dice < 68 && !asked.isEmpty()) {
      Request.Acquire ended = recent();
      SessionId through = chance(10) ? pick(live) : ended.attempt().session();
      LockName name = chance(2) ? pick(names) : ended.name();
      Command.Abandon abandon = new Command.Abandon(through, name, ended.attempt());
      if (chance(30)) {
        Request.Acquire next = suiting(through, List.of(name));
        asked.add(next);
        commands.add(new Command.Exchange(abandon, new Command.Acquire(next, null)));
      } else {
        commands.add(abandon);
      }
    } else if (dice < 75 && !asked.isEmpty()) {
      commands.add(new Command.Adjust(adjust(recent())));
    } else if (dice < 86) {
      commands.add(new Command.Renew(chance(10) && !dead.isEmpty() ? pick(dead) : pick(live)));
    } else if (dice < 88) {
      commands.add(new Command.RenewAgain(pick(live)));
    } else if (dice < 89) {
      commands.add(new Command.RenewAsClone(pick(live)));
    } else if (dice < 91) {
      SessionId closed = live.remove(random.nextInt(live.size()));
      dead.add(closed);
      commands.add(new Command.Close(closed));
      commands.add(new Command.Judge(closed));
    } else if (dice < 92) {
      commands.add(new Command.Judge(chance(50) && !dead.isEmpty() ? pick(dead) : pick(live)));
    } else if (dice < 95 && !asked.isEmpty()) {
      Request.Acquire evicted = recent();
      commands.add(
          new Command.Evict(evicted.name(), evicted.attempt(), pick(List.of(Eviction.values()))));
    } else if (dice < 96) {
      commands.add(new Command.Reopen(pick(names)));
    } else {
      commands.add(new Command.Inspect(chance(20) ? null : pick(names)));
    }
  }

  /** Plain keys would refuse nearly all that is drawn, and little would be compared. */
  private Request.Acquire suiting(SessionId session, List<LockName> among) {
    Request.Acquire drawn = fresh(session, pick(among));
    while (!store.can(Capability.SESSION) && store.refusal(drawn).isPresent() && chance(90)) {
      drawn = fresh(session, pick(among));
    }
    return drawn;
  }

  private Request.Acquire fresh(SessionId session, LockName name) {
    return new Request.Acquire(
        name,
        new AttemptId(session, ++numbers),
        mode(name),
        chance(60),
        new Terms(
            chance(10) ? Duration.ofMinutes(30) : null,
            chance(4) ? Duration.ofMinutes(20) : null,
            chance(30) ? "label " + numbers : ""),
        chance(70) ? 1 : 1 + random.nextInt(Request.MAX_TOKENS),
        chance(2) ? FLOOR + random.nextInt(1000) : 0,
        null);
  }

  private Mode mode(LockName name) {
    if (name.value().equals("permits")) {
      return chance(3)
          ? Mode.permits(1, PERMITS + 1)
          : Mode.permits(1 + random.nextInt(PERMITS), PERMITS);
    }
    return chance(2) ? Mode.permits(1, PERMITS) : chance(50) ? Mode.SHARED : Mode.EXCLUSIVE;
  }

  private Request.Adjust adjust(Request.Acquire held) {
    Mode mode = held.mode();
    if (chance(60)) {
      mode = new Mode(1, mode.capacity());
    } else if (chance(10)) {
      mode = new Mode(mode.capacity(), mode.capacity());
    } else if (chance(3)) {
      mode = Mode.permits(1, PERMITS + 2);
    }
    return new Request.Adjust(
        held.name(),
        held.attempt(),
        mode,
        chance(20)
            ? new Terms(Duration.ofMinutes(40), chance(10) ? Duration.ofMinutes(20) : null, "")
            : Terms.NONE,
        chance(50) ? 0 : 1 + random.nextInt(100),
        held.attempt().number() % 16 == 5 ? FLOOR : 0);
  }

  private @Nullable SessionId proof() {
    return dead.isEmpty() || chance(40) ? null : dead.get(dead.size() - 1);
  }

  /** One of the last attempts, more likely a late one. */
  private Request.Acquire recent() {
    int back = Math.min(random.nextInt(1, calm ? 4 : 12), asked.size());
    return asked.get(asked.size() - back);
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  private <T> T pick(List<T> items) {
    return items.get(random.nextInt(items.size()));
  }
}
