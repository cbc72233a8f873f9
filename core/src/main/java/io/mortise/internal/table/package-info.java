/**
 * The lock table: the small state machine that every store implements, here pure and in memory.
 * {@link io.mortise.internal.table.LockTable} is the machine, {@link
 * io.mortise.internal.table.MemStore} a store made of it.
 */
@NullMarked
package io.mortise.internal.table;

import org.jspecify.annotations.NullMarked;
