package io.mortise.quorum;

/** Has the name of another type, for {@code RulesTest}. */
public final class LockClient {}
