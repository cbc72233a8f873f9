/**
 * Locks over independent stores, the members: who is granted by a majority holds. One public
 * factory, {@link io.mortise.quorum.QuorumStore}; a session of it, {@code QuorumSession}, is made
 * of one session in each member, and every request of a round of requests to them.
 */
@NullMarked
package io.mortise.quorum;

import org.jspecify.annotations.NullMarked;
