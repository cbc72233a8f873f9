/**
 * What an engine knows: claims and waiters of a stripe, leases, ends that the store has not
 * confirmed, and the effects that transitions leave. Nothing here asks the store. Start at {@link
 * io.mortise.internal.engine.state.Claim}.
 *
 * <p>Its state changes under the lock of a {@link io.mortise.internal.engine.state.Stripe}, by
 * named changes that the transitions of {@code io.mortise.internal.engine} call.
 */
@NullMarked
package io.mortise.internal.engine.state;

import org.jspecify.annotations.NullMarked;
