/**
 * Locks in NATS JetStream: start at {@link io.mortise.nats.NatsStore}. The document store in core
 * decides what a lock does; here a key of a bucket is read and replaced.
 */
@NullMarked
package io.mortise.nats;

import org.jspecify.annotations.NullMarked;
