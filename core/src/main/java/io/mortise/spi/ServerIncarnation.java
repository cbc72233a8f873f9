package io.mortise.spi;

import java.time.Duration;

/**
 * What a store remembered with when it was opened. A store that was restarted, or whose server was
 * replaced, may have forgotten what it had answered; since when it has not is what this tells.
 *
 * @param id as in {@link Renewal.Renewed#incarnation()}
 * @param age for how long it had forgotten nothing by then, at least
 */
public record ServerIncarnation(String id, Duration age) {}
