package io.mortise.support.table;

/**
 * A fact as a document. Times are microseconds since 1970: of the store's clock, or of the host
 * that has written it where the store has none.
 *
 * @param version see {@link io.mortise.spi.Fact}
 * @param until when its time is over
 * @param keep for how long it was to be kept when it was written
 * @param content printable ASCII
 */
public record FactDocument(long version, long until, long keep, String content) {}
