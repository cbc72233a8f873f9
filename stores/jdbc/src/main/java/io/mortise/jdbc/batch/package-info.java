/**
 * Requests on their way to the database: {@code ConnectionExecutor} keeps their order and gathers
 * them while one batch is in flight, {@code BatchScheduler} makes transactions of them. Not
 * exported.
 */
@NullMarked
package io.mortise.jdbc.batch;

import org.jspecify.annotations.NullMarked;
