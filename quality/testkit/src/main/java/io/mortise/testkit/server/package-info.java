/**
 * What a test does to the server of a store: kill it, stop it, cut its network, its power. Start at
 * {@link io.mortise.testkit.server.LocalServer}; a program of the PATH extends {@link
 * io.mortise.testkit.server.ServerProcess}.
 */
@NullMarked
package io.mortise.testkit.server;

import org.jspecify.annotations.NullMarked;
