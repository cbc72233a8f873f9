/** The torture run: client processes, faults, and the check of their history. */
@NullMarked
package io.mortise.torture.run;

import org.jspecify.annotations.NullMarked;
