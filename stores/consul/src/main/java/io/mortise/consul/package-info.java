/**
 * Locks in Consul's key-value store, over its HTTP API: start at {@link
 * io.mortise.consul.ConsulStore}. What a lock does is decided by the document store in core; here a
 * document is read and replaced.
 */
@NullMarked
package io.mortise.consul;

import org.jspecify.annotations.NullMarked;
