/** The history of a torture run, one line per event, and its check. */
@NullMarked
package io.mortise.torture.history;

import org.jspecify.annotations.NullMarked;
