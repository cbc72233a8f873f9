package io.mortise.guarantee;

import io.mortise.annotation.Beta;

/**
 * Something that goes wrong.
 *
 * @param id for programs: {@code client-pause}
 * @param title in two or three words
 * @param meaning what exactly happens
 */
@Beta
public record Fault(String id, String title, String meaning) {}
