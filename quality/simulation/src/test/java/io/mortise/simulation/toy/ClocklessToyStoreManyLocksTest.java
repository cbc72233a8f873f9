package io.mortise.simulation.toy;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.SessionVerdict.Alive;
import io.mortise.spi.SessionVerdict.SessionEnded;
import io.mortise.spi.StoreSession;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Hundreds of contended locks of one process. Notes about all of them go into one document, that of
 * the process's session.
 */
class ClocklessToyStoreManyLocksTest {
  private static final int LOCKS = 400;
  private static final Mode PERMIT = new Mode(1, LOCKS);

  private final FarServer server = new FarServer();
  private final List<LockName> names =
      IntStream.range(0, LOCKS).mapToObj(i -> LockName.of("many/" + i)).toList();

  /** A process that acquires locks. */
  private final class TakingProcess {
    private final SessionId id = server.newId();
    private final LockStore store = server.store();
    private final StoreSession session = FarServer.open(store, id, this::hear);
    private final Map<LockName, AttemptId> attempts = new HashMap<>();
    private final Set<AttemptId> granted = new HashSet<>();
    private final Set<AttemptId> wanted = new HashSet<>();
    private long beat;
    private long longestRenewal;
    private int renewed;
    private int attempt;

    TakingProcess() {
      renew();
      server.runAll();
    }

    void renew() {
      renew(() -> {});
    }

    private void renew(Runnable then) {
      long begun = server.micros();
      var unused =
          session
              .renew(beat, ++beat, List.of())
              .thenAccept(
                  renewal -> {
                    renewed += renewal instanceof Renewal.Renewed ? 1 : 0;
                    longestRenewal = Math.max(longestRenewal, server.micros() - begun);
                    then.run();
                  });
    }

    /** Renews, then {@code more} times again, some milliseconds apart. */
    void renewOftener(int more) {
      renew(
          () -> {
            if (more > 0) {
              server.later(4 * FarServer.ONE_WAY_MICROS, () -> renewOftener(more - 1));
            }
          });
    }

    void acquire(LockName name) {
      acquire(name, Mode.EXCLUSIVE);
    }

    void acquire(LockName name, Mode mode) {
      AttemptId next = new AttemptId(id, ++attempt);
      attempts.put(name, next);
      session.submit(
          new Request.Acquire(name, next, mode, true, HoldTerms.NONE, 1, 0, null),
          reply -> {
            if (reply instanceof Reply.Granted) {
              granted.add(next);
            }
          });
    }

    private void hear(SessionNotification notification) {
      if (notification instanceof SessionNotification.HoldGranted) {
        granted.add(notification.attempt());
      } else if (notification instanceof SessionNotification.Contended) {
        wanted.add(notification.attempt());
      }
    }

    void release(LockName name, Runnable then) {
      session.submit(
          new Request.Abandon(name, Objects.requireNonNull(attempts.get(name))),
          reply -> then.run());
    }

    void releaseOneByOne(Iterator<LockName> some) {
      if (some.hasNext()) {
        release(some.next(), () -> releaseOneByOne(some));
      }
    }
  }

  /** Runs until idle; returns the number of sequential round trips. */
  private long run() {
    long begun = server.roundTrips();
    server.requests().clear();
    server.runAll();
    return server.roundTrips() - begun;
  }

  private TakingProcess holder() {
    TakingProcess holder = new TakingProcess();
    names.forEach(holder::acquire);
    server.runAll();
    assertThat(holder.granted).hasSize(LOCKS);
    return holder;
  }

  @Test
  void givenLocksOfOneProcess_whenAnotherAwaitsThem_thenItsNotesShareTheirWrites() {
    TakingProcess holder = holder();
    TakingProcess waiter = new TakingProcess();
    names.forEach(waiter::acquire);
    assertThat(run()).as("round trips until all have queued: %s", server.requests()).isLessThan(40);
    assertThat(holder.wanted).hasSize(LOCKS);
    assertThat(server.count("write session")).isLessThan(LOCKS / 20);
    assertThat(server.count("read session")).isLessThan(LOCKS / 10);
    assertThat(server.count("conflict session")).isLessThan(5);

    names.subList(0, LOCKS / 2).forEach(name -> holder.release(name, () -> {}));
    assertThat(run())
        .as("round trips until half are handed over: %s", server.requests())
        .isLessThan(30);
    assertThat(waiter.granted).hasSize(LOCKS / 2);
    assertThat(server.count("write session")).isLessThan(LOCKS / 10);
    assertThat(server.count("conflict session")).isLessThan(5);

    holder.releaseOneByOne(names.subList(LOCKS / 2, LOCKS).iterator());
    assertThat(run() / (LOCKS / 2)).as("round trips for each: %s", server.requests()).isLessThan(5);
    assertThat(waiter.granted).hasSize(LOCKS);
    assertThat(server.count("conflict lock") + server.count("conflict session"))
        .as("%s", server.requests())
        .isLessThan(5);
  }

  /** Each waiter has a write to the holder's session in flight, which conflicts with renewals. */
  @Test
  void givenLocksOfOneProcess_whenManyProcessesAwaitThem_thenItsRenewalsStillGetThrough() {
    TakingProcess holder = holder();
    List<TakingProcess> waiters = Stream.generate(TakingProcess::new).limit(10).toList();
    for (int i = 0; i < LOCKS; i++) {
      LockName name = names.get(i);
      waiters.get(i % waiters.size()).acquire(name);
    }
    holder.renewOftener(99);
    run();
    assertThat(holder.wanted).hasSize(LOCKS);
    assertThat(holder.renewed).isEqualTo(1 + 100);
    assertThat(holder.longestRenewal)
        .as("microseconds of the slowest renewal; %s", server.requests())
        .isLessThan(30 * 2 * FarServer.ONE_WAY_MICROS);
    assertThat(server.count("read lock")).isLessThan(2 * LOCKS);
    names.forEach(name -> holder.release(name, () -> {}));
    holder.renew();
    assertThat(run()).as("round trips: %s", server.requests()).isLessThan(60);
    assertThat(waiters.stream().mapToInt(each -> each.granted.size()).sum()).isEqualTo(LOCKS);
  }

  @Test
  void givenDeadHolderOfManyLocks_whenAnotherProcessAwaitsThem_thenItIsJudgedTogether() {
    TakingProcess holder = holder();
    TakingProcess waiter = new TakingProcess();
    names.forEach(waiter::acquire);
    server.runAll();
    for (int seconds = 15; seconds <= 60; seconds += 15) {
      server.later(seconds * 1_010_000L, waiter::renew);
    }
    server.runAll();
    names.forEach(name -> takeOver(waiter, name, holder.id));
    assertThat(run()).as("round trips until all are had: %s", server.requests()).isLessThan(40);
    assertThat(waiter.granted).hasSize(LOCKS);
    assertThat(holder.granted).hasSize(LOCKS);
    assertThat(server.count("read session")).isLessThan(LOCKS / 10);
    assertThat(server.count("write session")).isLessThan(LOCKS / 10);
  }

  /** Takes over like an engine, lock by lock. */
  private static void takeOver(TakingProcess waiter, LockName name, SessionId dead) {
    AttemptId attempt = Objects.requireNonNull(waiter.attempts.get(name));
    var unused =
        waiter
            .store
            .judge(dead)
            .thenAccept(
                verdict ->
                    waiter.session.submit(
                        new Request.Acquire(
                            name,
                            attempt,
                            Mode.EXCLUSIVE,
                            true,
                            HoldTerms.NONE,
                            1,
                            0,
                            verdict instanceof SessionEnded ? dead : null),
                        reply -> {
                          if (reply instanceof Reply.Granted) {
                            waiter.granted.add(attempt);
                          }
                        }));
  }

  /** Otherwise the contender would take a lock from a live holder. */
  @Test
  void givenJudgementInFlight_whenTheSessionIsMade_thenALaterJudgementIsReadAfresh() {
    SessionId made = server.newId();
    StoreSession session = server.open(made, hint -> {});
    LockStore judge = server.store();
    List<SessionVerdict> verdicts = new ArrayList<>();
    Runnable ask =
        () -> {
          var unused = judge.judge(made).thenAccept(verdicts::add);
        };
    long oneWay = FarServer.ONE_WAY_MICROS;
    server.later(0, () -> session.renew(0, 1, List.of()));
    server.later(2 * oneWay - 10, ask);
    server.later(3 * oneWay + 10, ask);
    server.runAll();
    assertThat(verdicts).hasExactlyElementsOfTypes(SessionEnded.class, Alive.class);
  }

  /** There is one lock, hence one document, too: waiters of a process share the writes of both. */
  @Test
  void givenHundredsOfWaitersForPermitsOrReads_whenTheHolderReleases_thenAllAreServedTogether() {
    for (Mode waits : List.of(PERMIT, Mode.SHARED)) {
      LockName name = LockName.of("one/" + waits.capacity());
      TakingProcess holder = new TakingProcess();
      holder.acquire(name, new Mode(waits.capacity(), waits.capacity()));
      server.runAll();
      TakingProcess waiter = new TakingProcess();
      for (int i = 0; i < LOCKS; i++) {
        waiter.acquire(name, waits);
      }
      assertThat(run())
          .as("round trips until all have queued: %s", server.requests())
          .isLessThan(60);
      holder.release(name, () -> {});
      server.runAll();
      for (long i = 1; i <= LOCKS; i++) {
        AttemptId attempt = new AttemptId(waiter.id, i);
        waiter.session.submit(
            new Request.Acquire(name, attempt, waits, true, HoldTerms.NONE, 1, 0, null),
            reply -> {
              if (reply instanceof Reply.Granted) {
                waiter.granted.add(attempt);
              }
            });
      }
      assertThat(run()).as("round trips until all are had: %s", server.requests()).isLessThan(60);
      assertThat(waiter.granted).hasSize(LOCKS);
    }
  }
}
