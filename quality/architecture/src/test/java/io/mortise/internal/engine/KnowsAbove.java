package io.mortise.internal.engine;

/** A type of the engine that knows one above it. */
public final class KnowsAbove {
  public KnowsBelow forbidden;
}
