package io.mortise.testkit.contract.differential;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.LockQuery;
import io.mortise.spi.Capability;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreSession;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RecordingConsumer;
import io.mortise.testkit.StoreUnderTest;
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
  /** Long enough that sessions end by a close only. */
  private static final Duration TTL = Duration.ofMinutes(10);

  private final LockStore store;
  private final boolean timeByHand;
  private final Map<SessionId, DrivenSession> sessions = new HashMap<>();
  private final Set<SessionId> foundDead = new HashSet<>();

  CommandRunner(LockStore store, StoreUnderTest under) {
    this.store = store;
    this.timeByHand = under.isTimeByHand();
  }

  private static final class DrivenSession {
    final StoreSession session;

    /** The session that sends closes, so that later requests are late arrivals at the store. */
    final StoreSession closer;

    long previous;
    long beat;
    List<Long> seen = List.of();
    List<Long> seenBefore = List.of();

    DrivenSession(LockStore store, SessionSpec spec) {
      this.session = store.open(spec, hint -> {});
      this.closer = store.open(spec, hint -> {});
    }
  }

  private DrivenSession session(SessionId id) {
    return sessions.computeIfAbsent(
        id,
        unknown ->
            new DrivenSession(
                store,
                new SessionSpec(
                    id,
                    timeByHand ? CommandGenerator.TTL_BY_HAND : TTL,
                    new ClientLabel("host", 1, id.value()))));
  }

  /** Runs a command; returns a reply, renewal, verdict, page, or a word. */
  Object run(StoreCommand storeCommand) {
    if (storeCommand instanceof StoreCommand.RenewStep renew) {
      return renew(session(renew.session()));
    } else if (storeCommand instanceof StoreCommand.RenewAgain renew) {
      DrivenSession drivenSession = session(renew.session());
      return drivenSession.beat == 0
          ? "nothing to renew again"
          : renew(
              drivenSession, drivenSession.previous, drivenSession.beat, drivenSession.seenBefore);
    } else if (storeCommand instanceof StoreCommand.RenewAsClone renew) {
      DrivenSession drivenSession = session(renew.session());
      return renew(drivenSession, drivenSession.beat + 1000, drivenSession.beat + 1001, List.of());
    } else if (storeCommand instanceof StoreCommand.CloseStep close) {
      BoundedWait.join(closer(session(close.session())).close());
      return "closed";
    } else if (storeCommand instanceof StoreCommand.JudgeStep judge) {
      Object verdict = answer(store.judge(judge.session()));
      if (verdict instanceof SessionVerdict.SessionEnded) {
        foundDead.add(judge.session());
      }
      return verdict;
    } else if (storeCommand instanceof StoreCommand.LockCommand lockCommand) {
      return ask(List.of(lockCommand)).get(0);
    } else if (storeCommand instanceof StoreCommand.CommandBatch commandBatch) {
      return ask(commandBatch.parts());
    } else if (storeCommand instanceof StoreCommand.EvictStep evict) {
      return answer(store.evict(evict.name(), evict.attempt(), evict.how()));
    } else if (storeCommand instanceof StoreCommand.ReopenStep reopen) {
      return answer(store.reopen(reopen.name()));
    }
    StoreCommand.InspectStep inspect = (StoreCommand.InspectStep) storeCommand;
    LockName name = inspect.name();
    return BoundedWait.join(
        store.inspect(name == null ? LockQuery.all() : LockQuery.of(name.value())));
  }

  private Request request(StoreCommand.LockCommand lockCommand) {
    if (lockCommand instanceof StoreCommand.AcquireStep acquire) {
      Request.Acquire r = acquire.request();
      SessionId proof = foundDead.contains(acquire.dead()) ? acquire.dead() : null;
      return new Request.Acquire(
          r.name(), r.attempt(), r.mode(), r.queue(), r.terms(), r.tokens(), r.tokenFloor(), proof);
    } else if (lockCommand instanceof StoreCommand.AbandonStep abandon) {
      return new Request.Abandon(abandon.name(), abandon.attempt());
    }
    return ((StoreCommand.AdjustStep) lockCommand).request();
  }

  private Renewal renew(DrivenSession drivenSession) {
    Renewal renewal =
        renew(drivenSession, drivenSession.beat, drivenSession.beat + 1, drivenSession.seen);
    if (renewal instanceof Renewal.Renewed renewed) {
      drivenSession.previous = drivenSession.beat;
      drivenSession.beat++;
      drivenSession.seenBefore = drivenSession.seen;
      drivenSession.seen =
          renewed.notifications().stream().map(Renewal.NumberedNotification::id).toList();
    }
    return renewal;
  }

  private Renewal renew(DrivenSession drivenSession, long previous, long next, List<Long> seen) {
    Renewal renewal = BoundedWait.join(drivenSession.session.renew(previous, next, seen));
    return timeByHand && renewal instanceof Renewal.Unknown
        ? BoundedWait.join(drivenSession.session.renew(previous, next, seen))
        : renewal;
  }

  /** After the clock was moved, the first request may come too late for the store. */
  private List<Reply> ask(List<StoreCommand.LockCommand> parts) {
    List<Reply> replies = new ArrayList<>(askOnce(parts));
    for (int i = 0; i < parts.size(); i++) {
      if (timeByHand && replies.get(i) instanceof Reply.Failed failed && !failed.mayHaveRun()) {
        replies.set(i, askOnce(parts.subList(i, i + 1)).get(0));
      }
    }
    return replies;
  }

  /** All requests but the last may be delayed, to be sent with it. */
  private List<Reply> askOnce(List<StoreCommand.LockCommand> parts) {
    List<RecordingConsumer<Reply>> replies = new ArrayList<>();
    for (StoreCommand.LockCommand part : parts) {
      RecordingConsumer<Reply> reply = new RecordingConsumer<>();
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

  /** If a session is known to its process only, no other session can close it. */
  private StoreSession closer(DrivenSession drivenSession) {
    return store.profile().can(Capability.SESSION) ? drivenSession.closer : drivenSession.session;
  }

  private static Object answer(CompletionStage<?> step) {
    try {
      return step.toCompletableFuture()
          .orTimeout(BoundedWait.scaled(BoundedWait.ANSWER).toMillis(), TimeUnit.MILLISECONDS)
          .join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof UnsupportedByStoreException) {
        return "unsupported";
      }
      throw e;
    }
  }

  void close() {
    sessions.values().forEach(drivenSession -> BoundedWait.join(closer(drivenSession).close()));
  }
}
