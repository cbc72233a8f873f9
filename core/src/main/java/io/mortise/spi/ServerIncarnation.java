package io.mortise.spi;

import java.time.Duration;

/**
 * The incarnation of a store's server when the store was opened, and its age. A store that was
 * restarted, or whose server was replaced, may have forgotten requests that it had answered.
 *
 * @param id as in {@link Renewal.Renewed#incarnation()}
 * @param age the time before the opening in which it forgot nothing, at least
 */
public record ServerIncarnation(String id, Duration age) {}
