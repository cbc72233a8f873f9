package io.mortise.spring;

import reactor.core.publisher.Mono;

/**
 * The {@link LockContext} of a reactive chain under {@link Locked}. Needs Reactor on the class
 * path.
 */
public final class ReactiveLockContext {
  private ReactiveLockContext() {}

  /**
   * The context of the innermost call around the subscriber, from Reactor's context. Empty if there
   * is none. Does not block.
   */
  public static Mono<LockContext> current() {
    return Mono.deferContextual(
        context -> Mono.justOrEmpty(context.<LockContext>getOrEmpty(LockContext.KEY)));
  }
}
