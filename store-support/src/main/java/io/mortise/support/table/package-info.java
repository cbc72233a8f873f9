/**
 * The lock table: executes requests on locks, once for all stores that keep records. {@link
 * io.mortise.support.table.LockTable} has the rules and reads and writes through a {@link
 * io.mortise.support.table.LockRecords}; {@link io.mortise.support.table.LockStep} runs them on a
 * whole record; {@link io.mortise.support.memory.MemStore} is a store of such records.
 */
@NullMarked
package io.mortise.support.table;

import org.jspecify.annotations.NullMarked;
