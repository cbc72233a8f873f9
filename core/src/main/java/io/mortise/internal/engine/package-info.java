/**
 * The engine: what a process does about the locks of one store. Start at {@link
 * io.mortise.internal.engine.Engine}, which tells how the parts work together.
 */
@NullMarked
package io.mortise.internal.engine;

import org.jspecify.annotations.NullMarked;
