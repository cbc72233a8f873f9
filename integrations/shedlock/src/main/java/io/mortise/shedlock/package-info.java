/**
 * ShedLock over Mortise: {@link io.mortise.shedlock.MortiseLockProvider} takes the place of the
 * lock provider that an application has, and everything of ShedLock above it stays as it is.
 */
@NullMarked
package io.mortise.shedlock;

import org.jspecify.annotations.NullMarked;
