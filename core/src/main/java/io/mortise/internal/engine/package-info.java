/**
 * The engine: the actions of a process on the locks of one store. Start at {@link
 * io.mortise.internal.engine.Engine}, which describes how the parts work together.
 *
 * <p>It stands between {@code io.mortise.internal.client}, which turns a user's calls into its
 * waiters, and {@code io.mortise.internal.session}, which keeps the session of its claims.
 */
@NullMarked
package io.mortise.internal.engine;

import org.jspecify.annotations.NullMarked;
