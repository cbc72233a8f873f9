package io.mortise.jdbc;

import io.mortise.spi.SessionId;
import io.mortise.support.liveness.BeatStore;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The beats of sessions, on the connection for renewals. Each step is a transaction of its own. */
final class JdbcBeatStore implements BeatStore {
  private final JdbcLockStore store;

  /** Where the next look at some sessions goes on. */
  private volatile String lookedAt = "";

  JdbcBeatStore(JdbcLockStore store) {
    this.store = store;
  }

  @Override
  public CompletionStage<Optional<SessionBeat>> read(SessionId session) {
    return store.renewal(
        storeConnection ->
            Optional.ofNullable(storeConnection.repository.session(session.value()))
                .map(
                    found ->
                        new SessionBeat(
                            found.beat(), Duration.of(found.ttl(), ChronoUnit.MICROS))));
  }

  @Override
  public CompletionStage<List<SessionId>> some(int limit) {
    return store.renewal(
        storeConnection -> {
          List<String> found = storeConnection.repository.sessionsAfter(lookedAt, limit);
          lookedAt = found.size() < limit ? "" : found.get(limit - 1);
          return found.stream().map(SessionId::new).toList();
        });
  }

  @Override
  public CompletionStage<Boolean> end(SessionId session, long beat) {
    return store.renewal(storeConnection -> storeConnection.sessions.end(session, beat));
  }

  @Override
  public CompletionStage<Boolean> revive(SessionId session) {
    return store.renewal(
        storeConnection -> storeConnection.sessions.revive(session, storeConnection.now()));
  }
}
