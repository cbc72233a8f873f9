/**
 * Locks for code on Reactor: {@link io.mortise.reactor.ReactiveLock} runs a {@code Mono} or a
 * {@code Flux} under a lock of any store.
 */
@NullMarked
package io.mortise.reactor;

import org.jspecify.annotations.NullMarked;
