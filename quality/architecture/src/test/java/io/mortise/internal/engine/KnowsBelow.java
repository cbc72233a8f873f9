package io.mortise.internal.engine;

/** The type above. */
public final class KnowsBelow {
  public KnowsAbove allowed;
}
