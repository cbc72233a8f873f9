/**
 * The environment of the engine: clocks, timers, threads, random numbers, and the rules that a
 * simulation may remove. Start at {@link io.mortise.internal.runtime.EngineEnv}.
 */
@NullMarked
package io.mortise.internal.runtime;

import org.jspecify.annotations.NullMarked;
