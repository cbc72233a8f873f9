/**
 * The ZooKeeper store, on ephemeral sequential nodes: one public factory, the rest of it
 * package-private. {@code NodeLayout} says what stands where, {@code SessionCore} what a session is
 * made of, and {@code LockQueueState} is the machine that decides what is done about one lock.
 * {@code ZkFence} guards what is kept in the same ensemble.
 */
@NullMarked
package io.mortise.zookeeper;

import org.jspecify.annotations.NullMarked;
