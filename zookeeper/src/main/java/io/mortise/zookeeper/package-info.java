/**
 * The ZooKeeper store, on ephemeral sequential nodes: one public factory, the rest package-private.
 * {@code NodeNames} says what stands where.
 */
@NullMarked
package io.mortise.zookeeper;

import org.jspecify.annotations.NullMarked;
