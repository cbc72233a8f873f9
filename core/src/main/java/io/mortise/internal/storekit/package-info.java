/**
 * Code that stores share beside the lock table itself: the in-memory store, the stores of other
 * modules and the engine use these classes, users of the library do not. Start reading at {@link
 * io.mortise.internal.storekit.Refusals}.
 */
@NullMarked
package io.mortise.internal.storekit;

import org.jspecify.annotations.NullMarked;
