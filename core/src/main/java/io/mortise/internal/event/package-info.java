/**
 * Passes events from the engine to listeners and to the flight recorder. Start reading at {@code
 * EventPublisher}.
 */
@NullMarked
package io.mortise.internal.event;

import org.jspecify.annotations.NullMarked;
