/**
 * What the tool starts: the command of {@code mortise run} with the signals in between, and a
 * browser. Start at {@link io.mortise.cli.child.ChildGuardian}.
 */
@NullMarked
package io.mortise.cli.child;

import org.jspecify.annotations.NullMarked;
