package io.mortise.guarantee;

import io.mortise.annotation.Beta;

/**
 * A kind of failure.
 *
 * @param id for programs: {@code client-pause}
 * @param title in two or three words
 * @param meaning the exact event
 */
@Beta
public record Fault(String id, String title, String meaning) {}
