/**
 * The lock table: what a lock does with a request, once for all stores that keep records. {@link
 * io.mortise.internal.table.LockTable} has the rules and reads and writes through a {@link
 * io.mortise.internal.table.LockRecords}; {@link io.mortise.internal.table.LockStep} runs them on a
 * record in one piece, {@link io.mortise.internal.table.MemStore} is a store made of such.
 */
@NullMarked
package io.mortise.internal.table;

import org.jspecify.annotations.NullMarked;
