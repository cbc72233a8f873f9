/**
 * The screen of {@code mortise top}. Start at {@link io.mortise.cli.top.TopSession}; what a key
 * does stands in {@link io.mortise.cli.top.TopModel}, what is seen in {@link
 * io.mortise.cli.top.TopView}.
 */
@NullMarked
package io.mortise.cli.top;

import org.jspecify.annotations.NullMarked;
