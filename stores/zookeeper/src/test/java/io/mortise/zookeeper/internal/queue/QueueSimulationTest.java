package io.mortise.zookeeper.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.ManualTime;
import io.mortise.testkit.Seed;
import io.mortise.zookeeper.internal.node.NodeData;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@link LockQueueState} in random worlds without a server. Several sessions want one lock, while
 * connections break, answers are lost, sessions end or fall silent, an operator removes nodes of
 * waiters, and messages on different channels overtake each other. Holders take less than before,
 * and start at-least times. {@code -Dmortise.seed=…} repeats a world, {@code
 * -Dmortise.zookeeper.worlds=…} sets their number.
 */
class QueueSimulationTest {
  private static final int WORLDS = Integer.getInteger("mortise.zookeeper.worlds", 400);
  private static final int STEPS = 600;
  private static final int SESSIONS = 3;
  private static final int ATTEMPTS = 4;
  private static final LockName NAME = LockName.of("x");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "exclusive",
        "readers and writers",
        "permits",
        "exclusive with times",
        "readers and writers with times",
        "permits with times"
      })
  void givenSessionsThatWantOneLock_whateverHappens_thenNoTwoHold_andEachHasItsTurn(String kind) {
    long from = Seed.draw().value();
    int worlds = Seed.isGiven() ? 1 : WORLDS;
    int grants = 0;
    int narrowings = 0;
    int latePolls = 0;
    for (long seed = from; seed < from + worlds; seed++) {
      SimulatedWorld world = new SimulatedWorld(new Seed(seed), kind);
      try {
        world.run();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("-D%s=%d, %s".formatted(Seed.PROPERTY, seed, kind), e);
      }
      grants += world.grants;
      narrowings += world.narrowings;
      latePolls += world.latePolls;
    }
    System.out.printf(
        "%d worlds of a queue, %s: %d grants, %d narrowings, %d late polls%n",
        worlds, kind, grants, narrowings, latePolls);
    assertThat(grants).isGreaterThan(worlds);
    // By a reader that passes a writer which leaves: 1 in 90,000 worlds.
    assertThat(latePolls).isLessThanOrEqualTo(1 + worlds / 10_000);
    assertThat(narrowings > 0 || Seed.isGiven())
        .isEqualTo(!kind.startsWith("exclusive") || Seed.isGiven());
  }

  /** An attempt, as the engine sees it. */
  private static final class EngineAttempt {
    final AttemptId id;
    final Mode mode;
    final boolean queue;
    final HoldTerms terms;

    /** Whether a request has no answer yet. */
    boolean open;

    /** Whether the last answer leaves the state of the attempt open. */
    boolean unknown;

    boolean holds;

    /** The least weight that it may have by now. */
    int weight;

    /** Whether the engine knows that another attempt wants the lock. */
    boolean wanted;

    boolean leaving;
    boolean over;

    EngineAttempt(AttemptId id, Mode mode, boolean queue, @Nullable Duration atLeast) {
      this.id = id;
      this.mode = mode;
      this.weight = mode.weight();
      this.queue = queue;
      this.terms = new HoldTerms(null, atLeast, "");
    }

    /** The mode of a part of its hold; null if it cannot have less. */
    @Nullable Mode less() {
      if (weight == 1) {
        return null;
      }
      return mode.isExclusive() && mode.capacity() == Mode.SHARERS
          ? Mode.SHARED
          : Mode.permits(weight - 1, mode.capacity());
    }

    /** Whether it is in the queue, and its engine expects only its turn. */
    boolean waits() {
      return queue && !open && !unknown && !holds && !leaving && !over;
    }

    @Override
    public String toString() {
      return "%d %s open=%s unknown=%s holds=%s leaving=%s queue=%s over=%s"
          .formatted(id.number(), mode.text(), open, unknown, holds, leaving, queue, over);
    }
  }

  /** One world. */
  private static final class SimulatedWorld {
    private final RandomGenerator random;
    private final String kind;
    private final boolean timed;
    private final int capacity;
    private final ManualTime time = new ManualTime();
    private final SimulatedQueue server;
    private final List<EngineSession> engines = new ArrayList<>();

    /** Attempts whose node an operator has removed while they waited. */
    private final Set<AttemptId> removed = new HashSet<>();

    /** Sessions that were ended as silent, and whose requests in flight are executed late. */
    private final List<EngineSession> silent = new ArrayList<>();

    private long sessions;
    private long lastToken;
    int grants;
    int narrowings;

    /** Holders that were told by a poll only. */
    int latePolls;

    private boolean polled;

    SimulatedWorld(Seed seed, String kind) {
      this.random = seed.random();
      this.kind = kind;
      this.timed = kind.endsWith("with times");
      this.capacity = kind.startsWith("permits") ? 3 : Mode.SHARERS;
      this.server = new SimulatedQueue("/m/locks/x", capacity, time, this::tell);
      for (int i = 0; i < SESSIONS; i++) {
        engines.add(new EngineSession());
      }
    }

    /** The engine of a session, reduced to its part in this. */
    private final class EngineSession {
      final SessionId id = SessionId.random(random);
      final List<EngineAttempt> attempts = new ArrayList<>();
      final SimulatedSession session;
      long last;

      EngineSession() {
        sessions++;
        this.session =
            new SimulatedSession(
                id,
                sessions,
                server,
                random,
                time,
                SimulatedWorld.this::note,
                notification -> heard(this, notification));
      }
    }

    private void tell(long number, SimulatedQueue.WatchEvent event) {
      engines.stream()
          .map(engine -> engine.session)
          .filter(session -> session.zooKeeperSession() == number)
          .forEach(session -> session.hear(event));
    }

    private void note(AttemptId holder) {
      engines.stream()
          .filter(engine -> engine.id.equals(holder.session()))
          .forEach(engine -> engine.session.wanted(holder));
    }

    // ---- Steps ----

    void run() {
      for (int i = 0; i < STEPS; i++) {
        EngineSession engine = engines.get(random.nextInt(SESSIONS));
        int chance = random.nextInt(1_000);
        time.advance(Duration.ofMillis(random.nextInt(2)));
        if (chance < 120) {
          use(engine);
        } else if (chance < 130) {
          engine.session.disconnect();
        } else if (chance < 133) {
          replace(engine);
        } else if (chance < 135) {
          silence(engine);
        } else if (chance < 140) {
          removeWaiter();
        } else if (chance < 160) {
          engine.session.detect(found());
        } else if (chance < 170) {
          lateRequest();
        } else if (chance < 220) {
          engine.session.reconnect();
        } else if (chance < 400) {
          engine.session.send();
        } else if (chance < 700) {
          engine.session.execute();
        } else if (chance < 990) {
          engine.session.receive();
        } else {
          engine.session.runTimers();
        }
      }
      drain();
    }

    private void replace(EngineSession engine) {
      engine.session.disconnect();
      engines.set(engines.indexOf(engine), new EngineSession());
      server.end(engine.session.zooKeeperSession());
    }

    /** Others end the session, which still has its ZooKeeper session. */
    private void silence(EngineSession engine) {
      engines.set(engines.indexOf(engine), new EngineSession());
      silent.add(engine);
      server.silence(engine.session.zooKeeperSession());
    }

    /**
     * Some nodes without a session; sometimes a number from an earlier container, with its session.
     */
    private Map<Integer, SessionId> found() {
      Map<Integer, SessionId> found = new TreeMap<>(server.sessionless());
      found.keySet().removeIf(seq -> random.nextBoolean());
      List<Integer> holders = server.holders();
      if (!holders.isEmpty() && random.nextInt(4) == 0) {
        found.put(holders.get(random.nextInt(holders.size())), SessionId.random(random));
      }
      return found;
    }

    private void lateRequest() {
      if (!silent.isEmpty()) {
        EngineSession late = silent.get(random.nextInt(silent.size()));
        late.session.send();
        late.session.execute();
        if (random.nextInt(4) == 0) {
          expire(late);
        }
      }
    }

    private void expire(EngineSession late) {
      silent.remove(late);
      server.end(late.session.zooKeeperSession());
    }

    /**
     * Not one with a request in flight: a creation and the read behind it belong together. A holder
     * of a lock that is shut may look like a waiter.
     */
    private void removeWaiter() {
      List<AttemptId> inFlight =
          engines.stream()
              .flatMap(engine -> engine.attempts.stream())
              .filter(attempt -> attempt.open || attempt.holds)
              .map(attempt -> attempt.id)
              .toList();
      for (int seq : server.waiters()) {
        AttemptId attempt = NodeData.attempt(server.read(seq).data()).attempt();
        if (!inFlight.contains(attempt) && random.nextBoolean()) {
          removed.add(attempt);
          server.delete(seq, false);
          return;
        }
      }
    }

    private void use(EngineSession engine) {
      List<EngineAttempt> free =
          engine.attempts.stream().filter(attempt -> !attempt.open && !attempt.over).toList();
      boolean another =
          engine.attempts.stream().filter(attempt -> !attempt.over).count() < ATTEMPTS;
      if (another && (free.isEmpty() || random.nextBoolean())) {
        Mode mode = mode();
        EngineAttempt attempt =
            new EngineAttempt(
                new AttemptId(engine.id, ++engine.last),
                mode,
                random.nextInt(4) > 0,
                timed && random.nextInt(3) == 0 ? atLeast() : null);
        engine.attempts.add(attempt);
        acquire(engine, attempt);
      } else if (!free.isEmpty()) {
        EngineAttempt attempt = free.get(random.nextInt(free.size()));
        Mode less = attempt.less();
        if (attempt.holds
            && less != null
            && !kind.startsWith("exclusive")
            && random.nextBoolean()) {
          narrow(engine, attempt, less, null);
        } else if (attempt.holds && timed && random.nextInt(3) == 0) {
          narrow(engine, attempt, new Mode(attempt.weight, capacity), atLeast());
        } else if (attempt.holds || attempt.leaving || random.nextInt(3) == 0) {
          abandon(engine, attempt);
        } else {
          acquire(engine, attempt);
        }
      }
    }

    private Duration atLeast() {
      return Duration.ofMillis(1 + random.nextInt(100));
    }

    private Mode mode() {
      if (kind.startsWith("permits")) {
        return Mode.permits(1 + random.nextInt(3), 3);
      }
      boolean shared = kind.startsWith("readers and writers") && random.nextInt(3) > 0;
      return shared ? Mode.SHARED : Mode.EXCLUSIVE;
    }

    // ---- The engine ----

    private void acquire(EngineSession engine, EngineAttempt attempt) {
      attempt.open = true;
      attempt.unknown = false;
      engine.session.submit(
          new Request.Acquire(
              NAME, attempt.id, attempt.mode, attempt.queue, attempt.terms, 2, 0, null),
          false,
          reply -> {
            assertThat(attempt.open).isTrue();
            attempt.open = false;
            if (reply instanceof Reply.Granted granted) {
              granted(attempt, granted.token(), granted.wanted());
            } else if (reply instanceof Reply.Failed) {
              attempt.unknown = true;
            } else if (reply instanceof Reply.Busy) {
              assertThat(attempt.queue).isFalse();
              attempt.over = true;
            } else if (reply instanceof Reply.Refused) {
              assertThat(removed).contains(attempt.id);
              attempt.over = true;
            } else {
              assertThat(reply).isInstanceOf(Reply.Queued.class);
            }
          });
    }

    private void narrow(
        EngineSession engine, EngineAttempt attempt, Mode mode, @Nullable Duration atLeast) {
      attempt.open = true;
      attempt.weight = mode.weight();
      engine.session.submit(
          new Request.Adjust(NAME, attempt.id, mode, new HoldTerms(null, atLeast, ""), 0, 0),
          false,
          reply -> {
            assertThat(attempt.open).isTrue();
            attempt.open = false;
            if (reply instanceof Reply.Granted) {
              narrowings += atLeast == null ? 1 : 0;
            } else if (reply instanceof Reply.Refused) {
              assertThat(removed).contains(attempt.id);
              attempt.holds = false;
              attempt.over = true;
            } else {
              assertThat(reply).isInstanceOf(Reply.Failed.class);
            }
          });
    }

    private void abandon(EngineSession engine, EngineAttempt attempt) {
      attempt.open = true;
      attempt.unknown = false;
      attempt.leaving = true;
      attempt.holds = false;
      engine.session.submit(
          new Request.Abandon(NAME, attempt.id),
          random.nextBoolean(),
          reply -> {
            assertThat(attempt.open).isTrue();
            attempt.open = false;
            if (reply instanceof Reply.Failed) {
              attempt.unknown = true;
            } else {
              assertThat(reply).isInstanceOf(Reply.Ended.class);
              attempt.over = true;
            }
          });
    }

    private void heard(EngineSession engine, SessionNotification notification) {
      if (notification instanceof SessionNotification.HoldGranted granted) {
        engine.attempts.stream()
            .filter(attempt -> attempt.id.equals(granted.attempt()))
            .forEach(attempt -> granted(attempt, granted.token(), granted.wanted()));
      } else if (notification instanceof SessionNotification.Contended) {
        engine.attempts.stream()
            .filter(attempt -> attempt.id.equals(notification.attempt()))
            .forEach(attempt -> attempt.wanted = true);
      } else {
        assertThat(removed).contains(notification.attempt());
        engine.attempts.stream()
            .filter(attempt -> attempt.id.equals(notification.attempt()))
            .forEach(attempt -> attempt.over = true);
      }
    }

    private void granted(EngineAttempt attempt, long token, boolean wanted) {
      attempt.wanted |= wanted;
      if (attempt.leaving || attempt.over || attempt.holds) {
        return;
      }
      attempt.holds = true;
      attempt.unknown = false;
      grants++;
      int used =
          engines.stream()
              .flatMap(engine -> engine.attempts.stream())
              .filter(holder -> holder.holds)
              .mapToInt(holder -> holder.weight)
              .sum();
      assertThat(server.mayBeGranted(attempt.id)).as("no at-least time goes on").isTrue();
      if (attempt.terms.atLeast() != null) {
        assertThat(server.lacksMark(attempt.id)).as("the mark is missing").isFalse();
      }
      assertThat(used).as("weight of all holders").isLessThanOrEqualTo(capacity);
      if (kind.startsWith("exclusive")) {
        assertThat(token).as("token").isGreaterThan(lastToken);
        lastToken = token;
      }
    }

    // ---- The end ----

    /** All connections work from now on, and all holders release: each waiter has its turn. */
    private void drain() {
      engines.forEach(engine -> engine.session.reconnect());
      for (int round = 0; round < 10_000; round++) {
        time.advance(Duration.ofMillis(1));
        for (EngineSession engine : engines) {
          engine.session.send();
          engine.session.execute();
          engine.session.receive();
          engine.session.runTimers();
          engine.session.detect(server.sessionless());
        }
        if (engines.stream().allMatch(engine -> engine.session.isQuiet())) {
          assertHoldersKnowThatTheyHold();
          if (firstWaiterPolls()) {
            continue;
          }
          if (!release()) {
            break;
          }
        }
      }
      for (EngineSession engine : engines) {
        assertThat(engine.attempts).as("attempts").allMatch(attempt -> attempt.over);
        assertThat(engine.session.isIdle()).as("idle").isTrue();
      }
      List.copyOf(silent).forEach(this::expire);
      assertThat(server.ephemerals()).as("nodes that are left").isZero();
    }

    /**
     * Unless a holder knows that it is wanted, its process may keep the lock to itself. The first
     * waiter tells it: at once, or by its poll if it became the first one without an event. Nobody
     * waits for the holders of a lock that is shut.
     *
     * @return whether the first waiter polls now
     */
    private boolean firstWaiterPolls() {
      EngineAttempt first = firstWaiter();
      boolean told =
          first == null
              || engines.stream()
                  .flatMap(engine -> engine.attempts.stream())
                  .allMatch(attempt -> attempt.wanted || !attempt.holds);
      boolean polls = !told && !polled;
      assertThat(told || polls).as("holders know that they are wanted").isTrue();
      polled = polls;
      if (polls) {
        latePolls++;
        engines.stream()
            .filter(engine -> engine.attempts.contains(first))
            .forEach(engine -> acquire(engine, first));
      }
      return polls;
    }

    /** The first waiter, if its engine knows that it waits. */
    private @Nullable EngineAttempt firstWaiter() {
      List<Integer> waiters = server.waiters();
      if (server.isShut() || waiters.isEmpty()) {
        return null;
      }
      AttemptId first = NodeData.attempt(server.read(waiters.get(0)).data()).attempt();
      return engines.stream()
          .flatMap(engine -> engine.attempts.stream())
          .filter(attempt -> attempt.id.equals(first) && attempt.waits())
          .findAny()
          .orElse(null);
    }

    /** Also those that hold since another one takes less. */
    private void assertHoldersKnowThatTheyHold() {
      List<AttemptId> holders =
          server.grantable().stream()
              .map(seq -> NodeData.attempt(server.read(seq).data()).attempt())
              .toList();
      assertThat(engines.stream().flatMap(engine -> engine.attempts.stream()))
          .filteredOn(attempt -> attempt.waits())
          .as("waiters")
          .noneMatch(attempt -> holders.contains(attempt.id));
    }

    /** Holders release, and requests without an answer are sent again. Polls are not needed. */
    private boolean release() {
      boolean some = false;
      for (EngineSession engine : engines) {
        for (EngineAttempt attempt : engine.attempts) {
          if (attempt.over || attempt.open) {
            continue;
          }
          if (attempt.holds || attempt.leaving) {
            abandon(engine, attempt);
            some = true;
          } else if (attempt.unknown || (timed && attempt.waits())) {
            acquire(engine, attempt);
            some = true;
          }
        }
      }
      return some;
    }
  }
}
