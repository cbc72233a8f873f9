/**
 * Locks over independent stores, the members: a grant by a majority of them holds. One public
 * factory, {@link io.mortise.quorum.QuorumStore}. Its session, {@code QuorumSession}, has one
 * session in each member, and makes every request a round of requests to them.
 */
@NullMarked
package io.mortise.quorum;

import org.jspecify.annotations.NullMarked;
