/**
 * Stores in any database, by plain JDBC: documents that are replaced by their versions. Start
 * reading at {@link io.mortise.jdbc.document.DocumentDatabase}.
 */
@NullMarked
package io.mortise.jdbc.document;

import org.jspecify.annotations.NullMarked;
