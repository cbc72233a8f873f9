package io.mortise.support.liveness;

import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** What a store has to tell and to do so that sessions can be judged by their beats alone. */
public interface HeartbeatStore {
  /**
   * A session as it stands in the store.
   *
   * @param beat the last that was confirmed
   * @param ttl of the session, not what is left of it
   */
  record Heartbeat(long beat, Duration ttl) {}

  /** Reads a session; empty if it has ended, for ever. */
  CompletionStage<Optional<Heartbeat>> read(SessionId session);

  /**
   * Some of the sessions that stand in the store, others at the next call, so that in the end all
   * were told.
   */
  CompletionStage<List<SessionId>> some(int limit);

  /**
   * Ends the session if this is still its beat; tells whether it has ended now. One atomic step.
   */
  CompletionStage<Boolean> end(SessionId session, long beat);

  /**
   * Lets the store take the session for alive again that it took for dead by its clock; its beat
   * stays. Tells whether the session was still there: one that has ended is never brought back.
   */
  CompletionStage<Boolean> revive(SessionId session);
}
