/**
 * The lock table in SQL: rows, the statements that read and write them, and what a step decides.
 * Start reading at {@code SqlLockRecords} (locks; {@code SingleStatementPath} are its short cuts)
 * and {@code SqlSessionTable} (sessions), which run in a transaction of a {@code StoreConnection}.
 * Not exported.
 */
@NullMarked
package io.mortise.jdbc.table;

import org.jspecify.annotations.NullMarked;
