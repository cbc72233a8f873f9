/**
 * Helpers for SQL of your own: they guard, lock or record inside the transaction or connection that
 * you hand in, and never commit it. They are no stores: no {@link io.mortise.LockClient} is behind
 * them, except where a fencing token or a client is handed in.
 *
 * <p>Start at {@link io.mortise.sql.SqlHelpers}, which needs tables of its own; {@link
 * io.mortise.sql.FencedUpdate} works on your tables alone, and {@link io.mortise.sql.SessionLocks}
 * needs none.
 *
 * <p>Failures of your connection reach you as the driver's own {@link java.sql.SQLException},
 * unlike elsewhere in Mortise: your code that rolls back and repeats transactions has to see it.
 * After one, roll back.
 */
@NullMarked
package io.mortise.sql;

import org.jspecify.annotations.NullMarked;
