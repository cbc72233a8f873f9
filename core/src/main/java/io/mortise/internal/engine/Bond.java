package io.mortise.internal.engine;

/** What a lease hangs on: valid for as long as this says. */
interface Bond {
  /** On the engine's ticker; {@link Long#MIN_VALUE} once it is over for good. */
  long validUntil();

  /** Whose lease it is. */
  Engine engine();

  /**
   * The session's bond, cut short by an at-most time.
   *
   * @param asleep how long the host was known to have slept when the time began to run
   */
  record Timed(LiveSession session, long deadline, long asleep) implements Bond {
    @Override
    public long validUntil() {
      long until = session.validUntil();
      long end = deadline - (session.asleep() - asleep);
      return until == Long.MIN_VALUE || until - end < 0 ? until : end;
    }

    @Override
    public Engine engine() {
      return session.engine();
    }
  }
}
