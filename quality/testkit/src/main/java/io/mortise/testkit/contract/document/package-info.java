/**
 * Requirements on documents with versions that keep locks, and faults that a store over them must
 * survive: start at {@link io.mortise.testkit.contract.document.DocumentsContract}.
 */
@NullMarked
package io.mortise.testkit.contract.document;

import org.jspecify.annotations.NullMarked;
