/** What happened in a torture run, one line an event, and what is wrong with it. */
@NullMarked
package io.mortise.torture.history;

import org.jspecify.annotations.NullMarked;
