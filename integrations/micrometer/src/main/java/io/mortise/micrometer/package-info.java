/**
 * Meters and observations of locks: {@link io.mortise.micrometer.LockMetrics} and {@link
 * io.mortise.micrometer.LockObservations} are listeners that a lock client is built with.
 */
@NullMarked
package io.mortise.micrometer;

import org.jspecify.annotations.NullMarked;
