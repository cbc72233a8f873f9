/**
 * The lock table in SQL: rows, the statements that read and write them, and what a step decides.
 * Start reading at {@code SqlLockRecords} (locks; {@code LockRepository#applyFast} is its short
 * cut) and {@code SqlSessionTable} (sessions), which run in a transaction of a {@code
 * StoreConnection}. {@code PostgresTransactions} and {@code MySqlTransactions} open one with few
 * round trips. Other packages see a connection and what it does; rows stay here. Not exported.
 */
@NullMarked
package io.mortise.jdbc.table;

import org.jspecify.annotations.NullMarked;
