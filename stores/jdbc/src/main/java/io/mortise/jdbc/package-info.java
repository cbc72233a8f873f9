/**
 * The database store: {@link io.mortise.jdbc.JdbcStore} opens it, {@code JdbcLockStore} implements
 * it.
 *
 * <p>The packages below see only those before them: {@code table} has rows, statements and steps;
 * {@code batch} gathers requests; {@code notify} wakes waiters; {@code dialect} knows the
 * databases. The SQL lies beside this package, one statement per file: {@code shared} has the
 * common ones, and the folder of a dialect its variants, under the same name.
 */
@NullMarked
package io.mortise.jdbc;

import org.jspecify.annotations.NullMarked;
