/**
 * The database store: {@link io.mortise.jdbc.JdbcStore} opens one, {@code JdbcLockStore} is it, the
 * rest is not visible outside.
 *
 * <p>Four packages are below this one, each seeing only those before it: {@code table} has rows,
 * statements and what a step decides; {@code batch} gathers requests; {@code notify} wakes those
 * who wait; {@code dialect} knows the databases. The SQL lies beside this package, one statement
 * per file: what is the same for all databases in {@code shared}, what a dialect says otherwise,
 * under the same name, in a folder of its own.
 */
@NullMarked
package io.mortise.jdbc;

import org.jspecify.annotations.NullMarked;
