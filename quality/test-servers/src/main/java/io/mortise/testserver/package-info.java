/**
 * The servers of all stores, for tests and for the tool's stories: each in a process of its own, on
 * a free port of the loopback, gone when the test ends. Start at {@link
 * io.mortise.testserver.TestStore}, or at a server, such as {@link
 * io.mortise.testserver.RedisServer}.
 *
 * <p>Published for {@code mortise-torture} only: it changes with our tests, and is no API.
 */
@NullMarked
package io.mortise.testserver;

import org.jspecify.annotations.NullMarked;
