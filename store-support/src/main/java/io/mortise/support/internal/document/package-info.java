/**
 * Parts of {@link io.mortise.support.document.VersionedDocuments} over a server: keys, removals,
 * watches, reports. Start reading at {@link io.mortise.support.internal.document.WatchedKeys}.
 */
@NullMarked
package io.mortise.support.internal.document;

import org.jspecify.annotations.NullMarked;
