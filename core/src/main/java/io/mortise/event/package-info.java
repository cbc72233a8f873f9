/** Events about acquires, leases and sessions: start at {@link io.mortise.event.LockListener}. */
@NullMarked
package io.mortise.event;

import org.jspecify.annotations.NullMarked;
