/**
 * Single commands outside of the batches of requests: bounded in time ({@link
 * io.mortise.redis.command.BoundedCaller}), and SCANs in pages ({@link
 * io.mortise.redis.command.ScanPager}).
 */
@NullMarked
package io.mortise.redis.command;

import org.jspecify.annotations.NullMarked;
