/**
 * What the engine takes from outside itself: clocks, timers, threads, random numbers and the rules
 * that a simulation may take away. Start at {@link io.mortise.internal.runtime.EngineEnv}.
 */
@NullMarked
package io.mortise.internal.runtime;

import org.jspecify.annotations.NullMarked;
