/**
 * Locks of another library around those of a store, for the time of a migration. Start reading at
 * {@link io.mortise.support.outer.OuterLockSession}.
 */
@NullMarked
package io.mortise.support.outer;

import org.jspecify.annotations.NullMarked;
