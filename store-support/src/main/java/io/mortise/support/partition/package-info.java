/**
 * Stores that spread their locks over several parts, such as the servers of a sharded Redis: start
 * at {@link io.mortise.support.partition.PartitionRouter}. Each part has an engine of its own.
 */
@NullMarked
package io.mortise.support.partition;

import org.jspecify.annotations.NullMarked;
