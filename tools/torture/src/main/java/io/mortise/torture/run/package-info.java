/** The torture run: client processes, faults, and what a checker says about it all. */
@NullMarked
package io.mortise.torture.run;

import org.jspecify.annotations.NullMarked;
