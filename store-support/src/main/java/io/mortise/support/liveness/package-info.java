/**
 * Judges sessions without trusting a store's clock: {@link
 * io.mortise.support.liveness.BeatMonitor}. For stores that offer strict expiry; their wrappers
 * extend {@link io.mortise.support.liveness.ForwardingStore}.
 */
@NullMarked
package io.mortise.support.liveness;

import org.jspecify.annotations.NullMarked;
