package io.mortise.spring;

import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Hands {@link LockContext} on to other threads, and to Reactor and back, together with
 * Micrometer's context propagation. A task scheduled under a lock may run long after it, and gets
 * no context of a call that has released its locks. Found by {@code ServiceLoader}, which requires
 * it to be public.
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
    LockContext innermost = LockContext.innermost();
    return innermost == null ? null : innermost.held();
  }

  @Override
  public void setValue(LockContext value) {
    LockContext.innermost(value.held());
  }

  @Override
  public void setValue() {
    LockContext.innermost(null);
  }
}
