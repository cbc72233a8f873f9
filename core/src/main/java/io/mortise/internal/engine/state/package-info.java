/**
 * The state of an engine: claims and waiters of a stripe, leases, ends that the store has not
 * confirmed, and the effects of transitions. Nothing here sends requests. Start at {@link
 * io.mortise.internal.engine.state.Claim}.
 *
 * <p>Its state changes under the lock of a {@link io.mortise.internal.engine.state.Stripe}, by
 * methods that the transitions of {@code io.mortise.internal.engine} call.
 */
@NullMarked
package io.mortise.internal.engine.state;

import org.jspecify.annotations.NullMarked;
