/**
 * The command that {@code mortise run} starts, and the signals in between. Start at {@link
 * io.mortise.cli.child.ChildGuardian}.
 */
@NullMarked
package io.mortise.cli.child;

import org.jspecify.annotations.NullMarked;
