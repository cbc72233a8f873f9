/**
 * The engine: what a process does about the locks of one store. Start at {@link
 * io.mortise.internal.engine.Engine}, which tells how the parts work together.
 *
 * <p>It stands between {@code io.mortise.internal.client}, which turns a user's calls into its
 * waiters, and {@code io.mortise.internal.session}, which keeps the session that its claims are
 * held through.
 */
@NullMarked
package io.mortise.internal.engine;

import org.jspecify.annotations.NullMarked;
