package io.mortise.spring;

import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Hands {@link LockContext} on to other threads, and to Reactor and back, with what Micrometer's
 * context propagation hands on. Found by {@code ServiceLoader}, which wants it public.
 */
public final class LockContextAccessor implements ThreadLocalAccessor<LockContext> {
  /** For {@code ServiceLoader}. */
  public LockContextAccessor() {}

  @Override
  public Object key() {
    return LockContext.KEY;
  }

  @Override
  public @Nullable LockContext getValue() {
    return LockContext.innermost();
  }

  @Override
  public void setValue(LockContext value) {
    LockContext.innermost(value);
  }

  @Override
  public void setValue() {
    LockContext.innermost(null);
  }
}
