/**
 * What both layouts have in common: where the servers are ({@code ZooKeeperTarget}), connections to
 * them ({@code ZooKeeperConnection}), and what a renewal proves ({@code RenewalProof}). Not for
 * users.
 */
@NullMarked
package io.mortise.zookeeper.internal;

import org.jspecify.annotations.NullMarked;
