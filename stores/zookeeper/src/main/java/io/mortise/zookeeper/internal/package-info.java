/**
 * What both layouts have in common. Start with {@code SessionRenewal}, which opens, renews and ends
 * a session by way of its {@code SessionLayout}; {@code StoreResources} has what a store shares.
 * Not for users.
 */
@NullMarked
package io.mortise.zookeeper.internal;

import org.jspecify.annotations.NullMarked;
