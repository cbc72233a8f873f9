/**
 * Meters of locks: {@link io.mortise.micrometer.LockMetrics} is a listener that a lock client is
 * built with.
 */
@NullMarked
package io.mortise.micrometer;

import org.jspecify.annotations.NullMarked;
