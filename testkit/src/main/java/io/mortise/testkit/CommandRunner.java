package io.mortise.testkit;

import io.mortise.UnsupportedByStoreException;
import io.mortise.spi.Capability;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Drives one store through commands, one after the other, and returns its answers. */
final class CommandRunner {
  /** Long enough that no session ends but by a close. */
  private static final Duration TTL = Duration.ofMinutes(10);

  private final LockStore store;
  private final boolean timeByHand;
  private final Map<SessionId, Driven> sessions = new HashMap<>();
  private final Set<SessionId> foundDead = new HashSet<>();

  CommandRunner(LockStore store, StoreUnderTest under) {
    this.store = store;
    this.timeByHand = under.isTimeByHand();
  }

  private static final class Driven {
    final StoreSession session;

    /** Closes are sent through this one: what comes later is then a late arrival at the store. */
    final StoreSession closer;

    long previous;
    long beat;
    List<Long> seen = List.of();
    List<Long> seenBefore = List.of();

    Driven(LockStore store, SessionSpec spec) {
      this.session = store.open(spec, hint -> {});
      this.closer = store.open(spec, hint -> {});
    }
  }

  private Driven session(SessionId id) {
    return sessions.computeIfAbsent(
        id,
        unknown ->
            new Driven(
                store,
                new SessionSpec(
                    id,
                    timeByHand ? CommandSource.TTL_BY_HAND : TTL,
                    new ClientLabel("host", 1, id.value()))));
  }

  /** A reply, renewal, verdict, page, or a word. */
  Object run(Command command) {
    if (command instanceof Command.Renew renew) {
      return renew(session(renew.session()));
    } else if (command instanceof Command.RenewAgain renew) {
      Driven driven = session(renew.session());
      return driven.beat == 0
          ? "nothing to renew again"
          : renew(driven, driven.previous, driven.beat, driven.seenBefore);
    } else if (command instanceof Command.RenewAsClone renew) {
      Driven driven = session(renew.session());
      return renew(driven, driven.beat + 1000, driven.beat + 1001, List.of());
    } else if (command instanceof Command.Close close) {
      Waits.join(closer(session(close.session())).close());
      return "closed";
    } else if (command instanceof Command.Judge judge) {
      Object verdict = answer(store.judge(judge.session()));
      if (verdict instanceof Verdict.SessionEnded) {
        foundDead.add(judge.session());
      }
      return verdict;
    } else if (command instanceof Command.Asking asking) {
      return ask(List.of(asking)).get(0);
    } else if (command instanceof Command.Together together) {
      return ask(together.parts());
    } else if (command instanceof Command.Evict evict) {
      return answer(store.evict(evict.name(), evict.attempt(), evict.how()));
    } else if (command instanceof Command.Reopen reopen) {
      return answer(store.reopen(reopen.name()));
    }
    Command.Inspect inspect = (Command.Inspect) command;
    return Waits.join(
        store.inspect(inspect.name() == null ? LockQuery.all() : LockQuery.of(inspect.name())));
  }

  private Request request(Command.Asking asking) {
    if (asking instanceof Command.Acquire acquire) {
      Request.Acquire r = acquire.request();
      SessionId proof = foundDead.contains(acquire.dead()) ? acquire.dead() : null;
      return new Request.Acquire(
          r.name(), r.attempt(), r.mode(), r.queue(), r.terms(), r.tokens(), r.tokenFloor(), proof);
    } else if (asking instanceof Command.Abandon abandon) {
      return new Request.Abandon(abandon.name(), abandon.attempt());
    }
    return ((Command.Adjust) asking).request();
  }

  private Renewal renew(Driven driven) {
    Renewal renewal = renew(driven, driven.beat, driven.beat + 1, driven.seen);
    if (renewal instanceof Renewal.Renewed renewed) {
      driven.previous = driven.beat;
      driven.beat++;
      driven.seenBefore = driven.seen;
      driven.seen = renewed.news().stream().map(Renewal.Item::id).toList();
    }
    return renewal;
  }

  private Renewal renew(Driven driven, long previous, long next, List<Long> seen) {
    Renewal renewal = Waits.join(driven.session.renew(previous, next, seen));
    return timeByHand && renewal instanceof Renewal.Unknown
        ? Waits.join(driven.session.renew(previous, next, seen))
        : renewal;
  }

  /** Where the clock was moved, the first request may come too late, as far as the store knew. */
  private List<Reply> ask(List<Command.Asking> parts) {
    List<Reply> replies = new ArrayList<>(askOnce(parts));
    for (int i = 0; i < parts.size(); i++) {
      if (timeByHand && replies.get(i) instanceof Reply.Failed failed && !failed.mayHaveRun()) {
        replies.set(i, askOnce(parts.subList(i, i + 1)).get(0));
      }
    }
    return replies;
  }

  /** All but the last may wait for a moment, and go with it. */
  private List<Reply> askOnce(List<Command.Asking> parts) {
    List<Recorder<Reply>> replies = new ArrayList<>();
    for (Command.Asking part : parts) {
      Recorder<Reply> reply = new Recorder<>();
      replies.add(reply);
      StoreSession session = session(part.through()).session;
      if (replies.size() < parts.size()) {
        session.submitLater(request(part), reply);
      } else {
        session.submit(request(part), reply);
      }
    }
    return replies.stream().map(reply -> reply.await(1).get(0)).toList();
  }

  /** Where a session is kept in the process alone, none but itself can close it. */
  private StoreSession closer(Driven driven) {
    return store.profile().can(Capability.SESSION) ? driven.closer : driven.session;
  }

  private static Object answer(CompletionStage<?> step) {
    try {
      return step.toCompletableFuture()
          .orTimeout(Waits.scaled(Waits.ANSWER).toMillis(), TimeUnit.MILLISECONDS)
          .join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof UnsupportedByStoreException) {
        return "unsupported";
      }
      throw e;
    }
  }

  void close() {
    sessions.values().forEach(driven -> Waits.join(closer(driven).close()));
  }
}
