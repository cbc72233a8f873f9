/**
 * A session's decisions about its locks, without I/O: {@code LockQueueState} is the state machine
 * of one lock, and returns {@code QueueEffect}s. The package above executes them.
 */
@NullMarked
package io.mortise.zookeeper.internal.queue;

import org.jspecify.annotations.NullMarked;
