/** Client processes that can be stopped and killed. */
@NullMarked
package io.mortise.torture.process;

import org.jspecify.annotations.NullMarked;
