/** The interface to what holds the locks of another library around those of a client. */
@NullMarked
package io.mortise.internal.outer;

import org.jspecify.annotations.NullMarked;
