/**
 * Locks over passive state, queues that order the effects of its changes, and bounded maps: the
 * engine, recipes and stores use these classes. Start reading at {@link
 * io.mortise.internal.queue.OutboxLock}.
 */
@NullMarked
package io.mortise.internal.queue;

import org.jspecify.annotations.NullMarked;
