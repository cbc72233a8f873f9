package io.mortise.spi;

import java.time.Duration;

/**
 * A session to be opened.
 *
 * @param id never used before
 * @param ttl how long the session lives after each renewal
 * @param client who it is, for people
 */
public record SessionSpec(SessionId id, Duration ttl, ClientLabel client) {}
