/**
 * Spring Integration over Mortise: {@link io.mortise.spring.integration.MortiseLockRegistry} takes
 * the place of the lock registry that an application has, and {@link
 * io.mortise.spring.integration.MortiseLeaderInitiator} that of its leader initiator.
 */
@NullMarked
package io.mortise.spring.integration;

import org.jspecify.annotations.NullMarked;
