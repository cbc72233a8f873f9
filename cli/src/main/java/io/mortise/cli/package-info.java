/** The {@code mortise} tool; start reading at {@link io.mortise.cli.Main}. */
@NullMarked
package io.mortise.cli;

import org.jspecify.annotations.NullMarked;
