/** A web console for the locks of a store. Start at {@link io.mortise.console.Console}. */
@NullMarked
package io.mortise.console;

import org.jspecify.annotations.NullMarked;
