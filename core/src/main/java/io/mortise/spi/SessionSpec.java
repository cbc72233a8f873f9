package io.mortise.spi;

import java.time.Duration;

/**
 * A session to be opened.
 *
 * @param id never used before
 * @param ttl how long the session lives after each renewal
 * @param client the client's identity, for people
 */
public record SessionSpec(SessionId id, Duration ttl, ClientLabel client) {}
