package io.mortise.quorum;

import io.mortise.spi.LockStore;

/** Breaks a rule, for {@code RulesTest}. */
public abstract class KeepsNoFacts implements LockStore {}
