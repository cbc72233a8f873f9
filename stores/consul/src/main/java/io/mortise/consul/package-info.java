/**
 * Locks in Consul's key-value store, over its HTTP API: start at {@link
 * io.mortise.consul.ConsulStore}. The document store in core decides what a lock does; here a
 * document is read and replaced.
 */
@NullMarked
package io.mortise.consul;

import org.jspecify.annotations.NullMarked;
