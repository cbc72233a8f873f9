/**
 * The database store: {@link io.mortise.jdbc.JdbcStore} opens one, the rest is package-private.
 *
 * <p>The SQL lies beside this package, one statement per file: what is the same for all databases
 * in {@code shared}, what a dialect says otherwise, under the same name, in a folder of its own.
 * What the steps decide is shared: {@code SqlLockTable} (locks; {@code SingleStatementPath} are its
 * short cuts) and {@code SqlSessionTable} (sessions) run in a transaction of a {@code
 * ConnectionExecutor}, which orders requests and gathers them while one batch is in flight. {@code
 * SqliteFile} and {@code ServerDatabase} open connections; a {@code Dialect} knows one server's
 * traps.
 */
@NullMarked
package io.mortise.jdbc;

import org.jspecify.annotations.NullMarked;
