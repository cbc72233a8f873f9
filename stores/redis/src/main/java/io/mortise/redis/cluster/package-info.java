/**
 * Where in a Redis Cluster a slot is served, and how to get there. Start reading at {@link
 * io.mortise.redis.cluster.ClusterNodes}.
 */
@NullMarked
package io.mortise.redis.cluster;

import org.jspecify.annotations.NullMarked;
