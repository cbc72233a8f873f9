/**
 * What a session does about its locks, without I/O: {@code LockQueueState} is the machine of one
 * lock, {@code QueueEffect} what it wants done. The package above executes that.
 */
@NullMarked
package io.mortise.zookeeper.internal.queue;

import org.jspecify.annotations.NullMarked;
