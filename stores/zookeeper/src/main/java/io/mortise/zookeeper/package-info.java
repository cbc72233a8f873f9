/**
 * The ZooKeeper store, on ephemeral sequential nodes: one public factory, the rest of it
 * package-private. {@code NodeLayout} lists the nodes, {@code SessionCore} describes a session, and
 * {@code LockQueueState} is the state machine of one lock. {@code ZkFence} guards data in the same
 * ensemble.
 */
@NullMarked
package io.mortise.zookeeper;

import org.jspecify.annotations.NullMarked;
