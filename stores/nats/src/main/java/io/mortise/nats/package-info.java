/**
 * Locks in NATS JetStream: start at {@link io.mortise.nats.NatsStore}. What a lock does is decided
 * by the document store in core; here a key of a bucket is read and replaced.
 */
@NullMarked
package io.mortise.nats;

import org.jspecify.annotations.NullMarked;
