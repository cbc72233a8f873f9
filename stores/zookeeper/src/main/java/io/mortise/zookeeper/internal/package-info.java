/**
 * The common parts of both layouts. Start with {@code SessionRenewal}, which opens, renews and ends
 * a session by way of its {@code SessionLayout}; {@code StoreResources} has the resources of a
 * store. Not for users.
 */
@NullMarked
package io.mortise.zookeeper.internal;

import org.jspecify.annotations.NullMarked;
