package io.mortise.testkit.contract.differential;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreProfile;
import io.mortise.testkit.Seed;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Draws the commands of a differential run: few sessions and names, so that they contend often;
 * many repetitions, late arrivals and mix-ups, which stores get wrong most often. A calm run
 * resembles production: it has many names, locks are released soon, so that most are free or have
 * one holder, and requests come in batches. Stores have fast paths for that, and leave them for a
 * name that was contended.
 */
final class CommandGenerator {
  /** The prefix of locks acquired exclusively and without terms, as most are in production. */
  private static final String PLAIN = "plain";

  private static final List<LockName> NAMES =
      List.of(
          LockName.of("a/b"),
          LockName.of("{é}"),
          LockName.of("permits"),
          LockName.of("x'y"),
          LockName.of(PLAIN));
  private static final int PERMITS = 3;

  /** The number of recent attempts from which a repeated one is drawn. */
  private static final int SOON = 4;

  private static final int LATE = 12;

  /** Above every clock of the next hundred years, below 2^53. */
  private static final long FLOOR = 8_000_000_000_000_000L;

  /**
   * The unit by which time moves by hand, and of which all durations are multiples: the real time
   * of a run then makes no difference.
   */
  private static final Duration UNIT = Duration.ofSeconds(10);

  /** As far from a multiple of the unit as possible. */
  static final Duration TTL_BY_HAND = UNIT.multipliedBy(6).plus(UNIT.dividedBy(2));

  /** Shorter than any store remembers idle records. */
  private static final Duration LONGEST_RUN = UNIT.multipliedBy(54);

  private static final List<LockName> MANY_NAMES =
      Stream.concat(
              NAMES.stream(),
              IntStream.range(0, 24)
                  .mapToObj(number -> LockName.of((number < 8 ? PLAIN : "calm") + "/" + number)))
          .toList();

  private final RandomGenerator random;
  private final boolean calm;
  private final boolean timeByHand;
  private final boolean listsLocks;
  private final List<LockName> names;
  private final StoreProfile store;
  private final List<SessionId> live = new ArrayList<>();
  private final List<SessionId> dead = new ArrayList<>();
  private final List<Request.Acquire> asked = new ArrayList<>();
  private final Map<SessionId, Duration> renewedAt = new HashMap<>();
  private Duration passed = Duration.ZERO;
  private long numbers;

  private CommandGenerator(RandomGenerator random, boolean calm, StoreUnderTest under) {
    this.random = random;
    this.calm = calm;
    this.timeByHand = under.isTimeByHand();
    this.listsLocks = under.listsLocks();
    this.names = calm ? MANY_NAMES : NAMES;
    this.store =
        new StoreProfile(
            "drawn for", under.capabilities(), Duration.ZERO, Duration.ZERO, Duration.ZERO);
  }

  /** Draws commands. Every second seed gives a calm run. */
  static List<StoreCommand> draw(Seed seed, int steps, StoreUnderTest under) {
    CommandGenerator source = new CommandGenerator(seed.random(), seed.value() % 2 == 0, under);
    List<StoreCommand> storeCommands = new ArrayList<>();
    while (storeCommands.size() < steps) {
      source.next(storeCommands);
    }
    return storeCommands;
  }

  private void next(List<StoreCommand> storeCommands) {
    if (live.size() < 2 || (live.size() < 4 && chance(5))) {
      SessionId opened = SessionId.random(random);
      live.add(opened);
      storeCommands.add(renew(opened));
      return;
    }
    if (timeByHand && chance(8)) {
      pass(storeCommands);
      return;
    }
    int dice = random.nextInt(100);
    if (dice < 75) {
      ask(storeCommands);
    } else if (dice < 86) {
      storeCommands.add(renew(chance(10) && !dead.isEmpty() ? pick(dead) : pick(live)));
    } else if (dice < 88) {
      storeCommands.add(new StoreCommand.RenewAgain(pick(live)));
    } else if (dice < 89) {
      storeCommands.add(new StoreCommand.RenewAsClone(pick(live)));
    } else if (dice < 91) {
      SessionId closed = live.remove(random.nextInt(live.size()));
      dead.add(closed);
      storeCommands.add(new StoreCommand.CloseStep(closed));
      storeCommands.add(new StoreCommand.JudgeStep(closed));
    } else if (dice < 92) {
      storeCommands.add(
          new StoreCommand.JudgeStep(chance(50) && !dead.isEmpty() ? pick(dead) : pick(live)));
    } else if (dice < 95 && !asked.isEmpty()) {
      Request.Acquire evicted = recent();
      storeCommands.add(
          new StoreCommand.EvictStep(
              evicted.name(), evicted.attempt(), pick(List.of(Eviction.values()))));
    } else if (dice < 96) {
      storeCommands.add(new StoreCommand.ReopenStep(pick(names)));
    } else {
      storeCommands.add(
          new StoreCommand.InspectStep(chance(20) && listsLocks ? null : pick(names)));
    }
  }

  /** Adds requests about one lock, or about several at once, as busy threads send them. */
  private void ask(List<StoreCommand> storeCommands) {
    int most = chance(calm ? 20 : 10) ? 2 + random.nextInt(calm ? 7 : 3) : 1;
    List<StoreCommand.LockCommand> parts = new ArrayList<>();
    Set<LockName> taken = new HashSet<>();
    for (int i = 0; i < most; i++) {
      List<StoreCommand.LockCommand> drawn = asking(calm && most == 1 ? SOON : LATE);
      if (taken.add(drawn.get(0).name())) {
        parts.addAll(drawn);
      }
    }
    storeCommands.add(parts.size() == 1 ? parts.get(0) : new StoreCommand.CommandBatch(parts));
  }

  /** Draws requests about one lock, perhaps repeating one of the {@code reach} latest attempts. */
  private List<StoreCommand.LockCommand> asking(int reach) {
    int dice = asked.isEmpty() ? 0 : random.nextInt(75);
    if (dice < 30) {
      Request.Acquire request = suiting(pick(live), names);
      asked.add(request);
      return List.of(new StoreCommand.AcquireStep(request, proof()));
    } else if (dice < 44) {
      // Repeated: a poll, or a late arrival; sometimes without a place in the queue.
      return List.of(new StoreCommand.AcquireStep(recent(reach), proof()));
    } else if (dice < 68) {
      Request.Acquire ended = recent(reach);
      SessionId through = chance(10) ? pick(live) : ended.attempt().session();
      LockName name = chance(2) ? pick(names) : ended.name();
      StoreCommand.AbandonStep abandon =
          new StoreCommand.AbandonStep(through, name, ended.attempt());
      if (!chance(30)) {
        return List.of(abandon);
      }
      Request.Acquire next = suiting(through, List.of(name));
      asked.add(next);
      return List.of(abandon, new StoreCommand.AcquireStep(next, null));
    }
    return List.of(new StoreCommand.AdjustStep(adjust(recent(reach))));
  }

  private StoreCommand.RenewStep renew(SessionId session) {
    renewedAt.put(session, passed);
    return new StoreCommand.RenewStep(session);
  }

  /** Lets time pass. Most sessions live on; those not renewed in time are judged. */
  private void pass(List<StoreCommand> storeCommands) {
    Duration time = units(chance(15) ? 5 : 2);
    if (passed.plus(time).compareTo(LONGEST_RUN) > 0) {
      return;
    }
    passed = passed.plus(time);
    storeCommands.add(new StoreCommand.AdvanceTime(time));
    for (SessionId session : List.copyOf(live)) {
      if (passed.minus(renewedAt.get(session)).compareTo(TTL_BY_HAND) > 0) {
        live.remove(session);
        dead.add(session);
        storeCommands.add(new StoreCommand.JudgeStep(session));
      } else if (chance(40)) {
        storeCommands.add(renew(session));
      }
    }
  }

  private Duration units(int most) {
    return UNIT.multipliedBy(1 + random.nextInt(most));
  }

  private Duration atMost(Duration elsewhere) {
    return timeByHand ? units(4).plus(UNIT) : elsewhere;
  }

  private Duration atLeast() {
    return timeByHand ? units(2) : Duration.ofMinutes(20);
  }

  /**
   * Draws requests that plain keys support: they would refuse nearly all others, and little would
   * be compared.
   */
  private Request.Acquire suiting(SessionId session, List<LockName> among) {
    Request.Acquire drawn = fresh(session, pick(among));
    while (!store.can(Capability.SESSION) && store.refusal(drawn).isPresent() && chance(90)) {
      drawn = fresh(session, pick(among));
    }
    return drawn;
  }

  private Request.Acquire fresh(SessionId session, LockName name) {
    if (name.value().startsWith(PLAIN)) {
      return new Request.Acquire(
          name,
          new AttemptId(session, ++numbers),
          Mode.EXCLUSIVE,
          chance(80),
          HoldTerms.NONE,
          chance(70) ? 1 : 1 + random.nextInt(Request.MAX_TOKENS),
          0,
          null);
    }
    return new Request.Acquire(
        name,
        new AttemptId(session, ++numbers),
        mode(name),
        chance(60),
        new HoldTerms(
            chance(timeByHand ? 25 : 10) ? atMost(Duration.ofMinutes(30)) : null,
            chance(timeByHand ? 12 : 4) ? atLeast() : null,
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
            ? new HoldTerms(atMost(Duration.ofMinutes(40)), chance(10) ? atLeast() : null, "")
            : HoldTerms.NONE,
        chance(50) ? 0 : 1 + random.nextInt(100),
        held.attempt().number() % 16 == 5 ? FLOOR : 0);
  }

  private @Nullable SessionId proof() {
    return dead.isEmpty() || chance(40) ? null : dead.get(dead.size() - 1);
  }

  /** One of the last attempts, more likely a late one. */
  private Request.Acquire recent() {
    return recent(calm ? SOON : LATE);
  }

  private Request.Acquire recent(int reach) {
    int back = Math.min(random.nextInt(1, reach), asked.size());
    return asked.get(asked.size() - back);
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  private <T> T pick(List<T> items) {
    return items.get(random.nextInt(items.size()));
  }
}
