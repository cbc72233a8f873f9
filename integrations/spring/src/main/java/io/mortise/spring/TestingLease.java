package io.mortise.spring;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.function.CheckedSupplier;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A lease without a store, for tests of code that uses its token. */
final class TestingLease implements Lease {
  private static final String NAME = "testing";

  private final FencingToken token;

  TestingLease(long token) {
    this.token = new FencingToken(NAME, token, NAME);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public long token() {
    return token.value();
  }

  @Override
  public FencingToken fencingToken() {
    return token;
  }

  @Override
  public State state() {
    return State.HELD;
  }

  @Override
  public boolean isValid() {
    return true;
  }

  @Override
  public Duration remaining() {
    return Duration.ofDays(1);
  }

  @Override
  public void ensureValid() {}

  @Override
  public void onLost(Consumer<? super LeaseLostException> listener) {
    Objects.requireNonNull(listener, "listener");
  }

  @Override
  public <T extends @Nullable Object, X extends Exception> T run(CheckedSupplier<T, X> task)
      throws X {
    return task.get();
  }

  @Override
  public void extend(Duration atMost) {
    Objects.requireNonNull(atMost, "atMost");
  }

  @Override
  public void keepShut(Duration atLeast) {
    Objects.requireNonNull(atLeast, "atLeast");
  }

  @Override
  public void downgrade() {}

  @Override
  public CompletableFuture<Void> releaseAsync() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public void close() {}

  @Override
  public String toString() {
    return "TestingLease[token=" + token.value() + "]";
  }
}
