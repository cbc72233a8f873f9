/**
 * Stores that spread their locks over several parts, such as the servers of a sharded Redis: start
 * at {@link io.mortise.spi.partition.PartitionedStore}. Each part has an engine of its own.
 */
@NullMarked
package io.mortise.spi.partition;

import org.jspecify.annotations.NullMarked;
