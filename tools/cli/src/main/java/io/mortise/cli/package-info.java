/**
 * The {@code mortise} tool: start reading at {@link io.mortise.cli.Main}. Package {@code
 * io.mortise.cli.output} prints, and {@code io.mortise.cli.child} runs the command of {@code
 * mortise run}.
 */
@NullMarked
package io.mortise.cli;

import org.jspecify.annotations.NullMarked;
