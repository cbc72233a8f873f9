/**
 * Distributed locks: the library's public API. Start at {@link io.mortise.LockClient}, which makes
 * {@link io.mortise.DistributedLock}s, whose acquires give {@link io.mortise.Lease}s.
 */
@NullMarked
package io.mortise;

import org.jspecify.annotations.NullMarked;
