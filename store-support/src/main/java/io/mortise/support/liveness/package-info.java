/**
 * Judging sessions without trusting a store's clock: {@link
 * io.mortise.support.liveness.HeartbeatMonitor}. For stores that offer strict expiry; {@link
 * io.mortise.support.liveness.ForwardingStore} is what they are wrapped by.
 */
@NullMarked
package io.mortise.support.liveness;

import org.jspecify.annotations.NullMarked;
