package io.mortise.internal.engine;

import io.mortise.internal.engine.state.ClaimEffect;
import io.mortise.internal.engine.state.ClaimEffect.AwaitFullTtl;
import io.mortise.internal.engine.state.ClaimEffect.DropSession;
import io.mortise.internal.engine.state.ClaimEffect.JudgeSession;
import io.mortise.internal.engine.state.ClaimEffect.NotifyListeners;
import io.mortise.internal.engine.state.ClaimEffect.Send;
import io.mortise.internal.engine.state.ClaimEffect.Timer;
import io.mortise.internal.engine.state.ClaimEffect.Wake;
import io.mortise.internal.queue.OutboxLock;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import java.util.function.Consumer;

/**
 * Performs the effects of transitions. Requests leave in the order of the stripe's outbox; the
 * thread that has changed the stripe performs all others after releasing its lock. Answers and
 * timers take the stripe's lock before their handlers run.
 */
final class EffectRunner implements ClaimEffect.Performer {
  private final LockStore store;
  private final EngineScheduler timers;
  private final EngineSessions sessions;

  EffectRunner(LockStore store, EngineScheduler timers, EngineSessions sessions) {
    this.store = store;
    this.timers = timers;
    this.sessions = sessions;
  }

  @Override
  public void perform(ClaimEffect effect, OutboxLock stripe) {
    if (effect instanceof Send send) {
      stripe.send(send.request(), new OutboundRequest(stripe, send));
    } else if (effect instanceof Wake wake) {
      stripe.afterUnlock(wake);
    } else if (effect instanceof Timer timer) {
      timer.start(timers, () -> stripe.run(timer.onDue()));
    } else if (effect instanceof NotifyListeners tell) {
      stripe.afterUnlock(tell.told());
    } else if (effect instanceof JudgeSession judge) {
      stripe.afterUnlock(
          () ->
              CompletionStages.start(() -> store.judge(judge.holder()))
                  .whenComplete(
                      (verdict, error) ->
                          stripe.run(() -> judge.onVerdict().accept(verdict, error))));
    } else if (effect instanceof AwaitFullTtl wait) {
      stripe.afterUnlock(
          () -> sessions.whenFullTtl(wait.session(), () -> stripe.run(wait.onFullTtl())));
    } else if (effect instanceof DropSession drop) {
      stripe.afterUnlock(() -> sessions.drop(drop.session()));
    } else {
      throw new AssertionError(effect);
    }
  }

  /** A request that leaves in its order of the outbox. */
  private record OutboundRequest(OutboxLock stripe, Send send)
      implements Runnable, Consumer<Reply> {
    @Override
    public void run() {
      try {
        if (send.later()) {
          send.session().store().submitLater(send.request(), this);
        } else {
          send.session().store().submit(send.request(), this);
        }
      } catch (RuntimeException | Error e) {
        // A store must not throw; if it does, an answer is still owed.
        accept(new Reply.Failed(send.request().attempt(), true, e));
      }
    }

    @Override
    public void accept(Reply reply) {
      send.onReply().arrived();
      stripe.lock();
      try {
        send.onReply().accept(reply);
      } finally {
        stripe.unlock();
      }
    }
  }
}
