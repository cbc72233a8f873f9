package io.mortise.cli.top;

import io.mortise.StoreUnavailableException;
import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockPage;
import io.mortise.admin.SessionPage;
import io.mortise.admin.StoreInfo;
import io.mortise.admin.SurveyPage;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A store that has these locks, or does not answer. */
final class FixedLocks implements LockAdmin {
  final Map<String, LockInfo> locks = new ConcurrentHashMap<>();
  volatile boolean away;

  @Override
  public Optional<LockInfo> find(String name) {
    answer();
    return Optional.ofNullable(locks.get(name));
  }

  private void answer() {
    if (away) {
      throw new StoreUnavailableException("The store is away for a test.");
    }
  }

  @Override
  public SurveyPage survey(String prefix, @Nullable String cursor, int limit) {
    answer();
    throw new UnsupportedOperationException();
  }

  @Override
  public SessionPage sessions(@Nullable String cursor, int limit) {
    answer();
    throw new UnsupportedOperationException();
  }

  @Override
  public LockPage list(String prefix, @Nullable String cursor, int limit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public LockPage listAll(String prefix, @Nullable String cursor, int limit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public EvictionResult evict(String name, String attempt, Eviction how) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean reopen(String name) {
    throw new UnsupportedOperationException();
  }

  @Override
  public StoreInfo store() {
    throw new UnsupportedOperationException();
  }
}
