/**
 * The objects that users of the API hold: the client, its locks, groups and administration, and the
 * waits of its threads and futures. Start at {@link io.mortise.internal.client.EngineClient}; the
 * outcome of a wait is decided in {@code io.mortise.internal.engine}.
 */
@NullMarked
package io.mortise.internal.client;

import org.jspecify.annotations.NullMarked;
