/**
 * ShedLock over Mortise: {@link io.mortise.shedlock.MortiseLockProvider} replaces an application's
 * lock provider, and the rest of ShedLock stays unchanged.
 */
@NullMarked
package io.mortise.shedlock;

import org.jspecify.annotations.NullMarked;
