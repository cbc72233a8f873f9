/** Client processes that can be paused and killed. */
@NullMarked
package io.mortise.torture.process;

import org.jspecify.annotations.NullMarked;
