/**
 * Judging sessions without trusting a store's clock: {@link io.mortise.internal.judge.BeatWatch}.
 * For stores that offer strict expiry; {@link io.mortise.internal.judge.ForwardingStore} is what
 * they are wrapped by.
 */
@NullMarked
package io.mortise.internal.judge;

import org.jspecify.annotations.NullMarked;
