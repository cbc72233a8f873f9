/**
 * The screen of {@code mortise top}. Start at {@link io.mortise.cli.top.TopSession}. {@link
 * io.mortise.cli.top.TopModel} handles keys, {@link io.mortise.cli.top.TopView} makes the lines.
 */
@NullMarked
package io.mortise.cli.top;

import org.jspecify.annotations.NullMarked;
