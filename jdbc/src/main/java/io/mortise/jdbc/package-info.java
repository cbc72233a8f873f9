/**
 * The database store: {@link io.mortise.jdbc.JdbcStore} opens one, the rest is package-private.
 *
 * <p>The SQL of each dialect lies beside this package, one statement per file, with the same names:
 * a side-by-side diff shows the dialect only. What the steps decide is shared: {@code LockSteps}
 * (locks) and {@code SessionSteps} (sessions) run in a transaction of a {@code Lane}, which orders
 * requests and gathers them while one batch is in flight. {@code SqliteFile} and {@code H2Database}
 * open connections and know each database's traps.
 */
@NullMarked
package io.mortise.jdbc;

import org.jspecify.annotations.NullMarked;
