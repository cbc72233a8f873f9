/**
 * The lock table: what a lock does with a request, once for all stores that keep records. {@link
 * io.mortise.support.table.LockTable} has the rules and reads and writes through a {@link
 * io.mortise.support.table.LockRecords}; {@link io.mortise.support.table.LockStep} runs them on a
 * record in one piece, {@link io.mortise.support.memory.MemStore} is a store made of such.
 */
@NullMarked
package io.mortise.support.table;

import org.jspecify.annotations.NullMarked;
