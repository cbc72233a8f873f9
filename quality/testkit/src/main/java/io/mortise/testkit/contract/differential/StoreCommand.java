package io.mortise.testkit.contract.differential;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One step of a differential run. A step's meaning does not depend on earlier steps, so that a
 * failing run can be shortened.
 */
sealed interface StoreCommand {
  /** A request about one lock, through a session. */
  sealed interface LockCommand extends StoreCommand {
    SessionId through();

    LockName name();
  }

  /** Renews and acknowledges notifications; the first one opens the session. */
  record RenewStep(SessionId session) implements StoreCommand {
    @Override
    public String toString() {
      return "renew " + session;
    }
  }

  /** Repeats the last renewal, as if its reply had been lost. */
  record RenewAgain(SessionId session) implements StoreCommand {
    @Override
    public String toString() {
      return "renew again " + session;
    }
  }

  /** Renews with a beat that is not the session's. */
  record RenewAsClone(SessionId session) implements StoreCommand {
    @Override
    public String toString() {
      return "renew as a clone " + session;
    }
  }

  /** Ends the session in the store. */
  record CloseStep(SessionId session) implements StoreCommand {
    @Override
    public String toString() {
      return "close " + session;
    }
  }

  /** Has the session judged. */
  record JudgeStep(SessionId session) implements StoreCommand {
    @Override
    public String toString() {
      return "judge " + session;
    }
  }

  /**
   * Acquires.
   *
   * @param dead a session to be proven dead, if this run found it so
   */
  record AcquireStep(Request.Acquire request, @Nullable SessionId dead) implements LockCommand {
    @Override
    public SessionId through() {
      return request.attempt().session();
    }

    @Override
    public LockName name() {
      return request.name();
    }

    @Override
    public String toString() {
      HoldTerms terms = request.terms();
      return "acquire '"
          + request.name()
          + "' as "
          + request.attempt()
          + " "
          + request.mode().weight()
          + "/"
          + request.mode().capacity()
          + (request.queue() ? " queue" : "")
          + (terms.atMost() == null ? "" : " at most " + terms.atMost())
          + (terms.atLeast() == null ? "" : " at least " + terms.atLeast())
          + " tokens="
          + request.tokens()
          + (request.tokenFloor() == 0 ? "" : " floor=" + request.tokenFloor())
          + (dead == null ? "" : " proven dead " + dead);
    }
  }

  /** Ends an attempt, through any session. */
  record AbandonStep(SessionId through, LockName name, AttemptId attempt) implements LockCommand {
    @Override
    public String toString() {
      return "abandon '" + name + "' " + attempt + " through " + through;
    }
  }

  /** Changes a hold. */
  record AdjustStep(Request.Adjust request) implements LockCommand {
    @Override
    public SessionId through() {
      return request.attempt().session();
    }

    @Override
    public LockName name() {
      return request.name();
    }

    @Override
    public String toString() {
      return "adjust '"
          + request.name()
          + "' "
          + request.attempt()
          + " to "
          + request.mode().weight()
          + "/"
          + request.mode().capacity()
          + (request.terms().atMost() == null ? "" : " at most " + request.terms().atMost())
          + (request.terms().atLeast() == null ? "" : " at least " + request.terms().atLeast())
          + " tokens="
          + request.tokens()
          + (request.tokenFloor() == 0 ? "" : " floor=" + request.tokenFloor());
    }
  }

  /**
   * A batch of requests that a store may execute together: about different locks, or an end
   * followed by an acquire of the same lock through the same session.
   */
  record CommandBatch(List<LockCommand> parts) implements StoreCommand {
    @Override
    public String toString() {
      return parts.stream().map(LockCommand::toString).collect(Collectors.joining(" + "));
    }
  }

  /** Ends an attempt from outside. */
  record EvictStep(LockName name, AttemptId attempt, Eviction how) implements StoreCommand {
    @Override
    public String toString() {
      return "evict '" + name + "' " + attempt + " " + how;
    }
  }

  /** Lets time pass, if it moves by hand. */
  record AdvanceTime(Duration time) implements StoreCommand {
    @Override
    public String toString() {
      return "pass " + time;
    }
  }

  /** Opens a lock that is shut. */
  record ReopenStep(LockName name) implements StoreCommand {
    @Override
    public String toString() {
      return "reopen '" + name + "'";
    }
  }

  /** Looks at one lock, or at all that are in use. */
  record InspectStep(@Nullable LockName name) implements StoreCommand {
    @Override
    public String toString() {
      return name == null ? "inspect all" : "inspect '" + name + "'";
    }
  }
}
