/**
 * Judges sessions without trusting a store's clock: {@link
 * io.mortise.internal.liveness.HeartbeatMonitor}. For stores that offer strict expiry; their
 * wrappers extend {@link io.mortise.internal.liveness.ForwardingStore}.
 */
@NullMarked
package io.mortise.internal.liveness;

import org.jspecify.annotations.NullMarked;
