/**
 * The peculiarities of each database: {@code SqliteFile} and {@code ServerDatabase} open
 * connections, a {@code Dialect} knows one server's traps, and a settings report reads how it is
 * set up. Not exported.
 */
@NullMarked
package io.mortise.jdbc.dialect;

import org.jspecify.annotations.NullMarked;
