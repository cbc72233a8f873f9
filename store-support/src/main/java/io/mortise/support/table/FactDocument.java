package io.mortise.support.table;

/**
 * A fact as a document. Times are microseconds since 1970: of the store's clock, or of the writer's
 * host in a clockless store.
 *
 * @param version see {@link io.mortise.spi.Fact}
 * @param until its time of expiry
 * @param keep its time to keep at the write
 * @param content printable ASCII
 */
public record FactDocument(long version, long until, long keep, String content) {}
