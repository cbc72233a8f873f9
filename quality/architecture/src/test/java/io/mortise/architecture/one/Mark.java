package io.mortise.architecture.one;

/** Part of a cycle, for {@code RulesTest}. */
public @interface Mark {}
