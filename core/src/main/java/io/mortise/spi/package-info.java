/**
 * What a backend implements: start at {@link io.mortise.spi.LockStore} and {@link
 * io.mortise.spi.StoreSession}, then {@link io.mortise.spi.Request} and {@link
 * io.mortise.spi.Reply}. A store gives atomic steps; the engine in core waits, retries and decides.
 *
 * <p>A store in parts also implements {@code io.mortise.support.partition}. Its clocks are those of
 * {@code io.mortise.spi.time}.
 */
@NullMarked
package io.mortise.spi;

import org.jspecify.annotations.NullMarked;
