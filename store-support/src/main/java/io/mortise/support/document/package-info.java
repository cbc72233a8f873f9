/**
 * Stores that keep a document for each lock and each session, and change one at a time by
 * compare-and-set: start at {@link io.mortise.support.document.DocumentStore}. An author implements
 * {@link io.mortise.support.document.VersionedDocuments} only.
 */
@NullMarked
package io.mortise.support.document;

import org.jspecify.annotations.NullMarked;
