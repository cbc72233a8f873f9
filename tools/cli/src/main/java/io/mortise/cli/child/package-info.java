/**
 * Processes started by the tool: the command of {@code mortise run} with its signals, and a
 * browser. Start at {@link io.mortise.cli.child.ChildGuardian}.
 */
@NullMarked
package io.mortise.cli.child;

import org.jspecify.annotations.NullMarked;
