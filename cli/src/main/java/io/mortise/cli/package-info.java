/**
 * The {@code mortise} tool: start reading at {@link io.mortise.cli.Main}. What it prints stands in
 * {@code io.mortise.cli.output}, the command that it runs in {@code io.mortise.cli.child}.
 */
@NullMarked
package io.mortise.cli;

import org.jspecify.annotations.NullMarked;
