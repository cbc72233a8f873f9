/**
 * The lock table: executes requests on locks, once for all stores that keep records. {@link
 * io.mortise.internal.table.LockTable} has the rules and reads and writes through a {@link
 * io.mortise.internal.table.LockRecords}; {@link io.mortise.internal.table.LockStep} runs them on a
 * whole record; {@link io.mortise.internal.table.MemStore} is a store of such records.
 */
@NullMarked
package io.mortise.internal.table;

import org.jspecify.annotations.NullMarked;
