/** Real servers for tests: started on free ports of the loopback, gone when the test ends. */
@NullMarked
package io.mortise.testkit.server;

import org.jspecify.annotations.NullMarked;
