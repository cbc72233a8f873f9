package io.mortise.architecture.two;

import io.mortise.architecture.one.Mark;

/** Part of a cycle, for {@code RulesTest}. */
@Mark
public final class Marked {}
