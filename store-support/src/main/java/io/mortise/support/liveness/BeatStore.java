package io.mortise.support.liveness;

import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The operations of a store whose sessions are judged by their beats alone. */
public interface BeatStore {
  /**
   * A session in the store.
   *
   * @param beat the last confirmed beat
   * @param ttl the session's whole TTL, not the rest of it
   */
  record SessionBeat(long beat, Duration ttl) {}

  /** Reads a session; empty if it has ended, for ever. */
  CompletionStage<Optional<SessionBeat>> read(SessionId session);

  /** Some of the sessions in the store; later calls return others, and in the end all. */
  CompletionStage<List<SessionId>> some(int limit);

  /** Ends the session if this is still its beat; returns whether it has ended. One atomic step. */
  CompletionStage<Boolean> end(SessionId session, long beat);

  /**
   * Makes a session alive again that the store's clock had expired; its beat stays. Returns whether
   * the session was still there: an ended session is never revived.
   */
  CompletionStage<Boolean> revive(SessionId session);
}
