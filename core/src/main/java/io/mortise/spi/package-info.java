/**
 * The interfaces that a backend implements: start at {@link io.mortise.spi.LockStore} and {@link
 * io.mortise.spi.StoreSession}, then {@link io.mortise.spi.Request} and {@link
 * io.mortise.spi.Reply}. A store gives atomic steps; the engine in core waits, retries and decides.
 *
 * <p>A store in parts implements {@link io.mortise.spi.PartitionedStore}. Clocks are in {@code
 * io.mortise.spi.time}.
 */
@NullMarked
package io.mortise.spi;

import org.jspecify.annotations.NullMarked;
