/**
 * Judging sessions without trusting a store's clock: {@link
 * io.mortise.internal.liveness.HeartbeatMonitor}. For stores that offer strict expiry; {@link
 * io.mortise.internal.liveness.ForwardingStore} is what they are wrapped by.
 */
@NullMarked
package io.mortise.internal.liveness;

import org.jspecify.annotations.NullMarked;
