/**
 * Real servers for tests: started on free ports of the loopback, gone when the test ends. Start at
 * {@link io.mortise.testkit.server.LocalServer}; a program of the PATH extends {@link
 * io.mortise.testkit.server.ServerProcess}.
 */
@NullMarked
package io.mortise.testkit.server;

import org.jspecify.annotations.NullMarked;
