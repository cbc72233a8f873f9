/**
 * Stores that keep a document for each lock and each session, and change one at a time by
 * compare-and-set: start at {@link io.mortise.spi.document.DocumentStore}. An author implements
 * {@link io.mortise.spi.document.VersionedDocuments} only.
 */
@NullMarked
package io.mortise.spi.document;

import org.jspecify.annotations.NullMarked;
