package io.mortise.internal.engine;

/** What a lease hangs on: valid for as long as this says. */
interface Bond {
  /** On the engine's ticker; {@link Long#MIN_VALUE} once it is over for good. */
  long validUntil();

  /** Whose lease it is. */
  Engine engine();

  /** The session's bond, cut short by an at-most time. */
  record Timed(Bond session, long deadline) implements Bond {
    @Override
    public long validUntil() {
      long until = session.validUntil();
      return until == Long.MIN_VALUE || until - deadline < 0 ? until : deadline;
    }

    @Override
    public Engine engine() {
      return session.engine();
    }
  }
}
