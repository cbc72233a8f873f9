/**
 * The nodes of a store: their names, data and order, and how they are read. Start at {@link
 * io.mortise.zookeeper.internal.node.NodeLayout}.
 */
@NullMarked
package io.mortise.zookeeper.internal.node;

import org.jspecify.annotations.NullMarked;
