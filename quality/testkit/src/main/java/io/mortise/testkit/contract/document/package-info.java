/**
 * What documents with versions must do before locks are kept in them, and what a store over them
 * must survive: start at {@link io.mortise.testkit.contract.document.DocumentsContract}.
 */
@NullMarked
package io.mortise.testkit.contract.document;

import org.jspecify.annotations.NullMarked;
