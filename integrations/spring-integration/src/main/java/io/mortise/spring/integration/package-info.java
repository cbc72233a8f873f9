/**
 * Spring Integration over Mortise: {@link io.mortise.spring.integration.MortiseLockRegistry}
 * replaces an application's lock registry, and {@link
 * io.mortise.spring.integration.MortiseLeaderInitiator} its leader initiator.
 */
@NullMarked
package io.mortise.spring.integration;

import org.jspecify.annotations.NullMarked;
