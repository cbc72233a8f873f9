/**
 * Which locks are shown, in which order, and which process waits for which. Start at {@link
 * io.mortise.cli.view.LockSelection}.
 */
@NullMarked
package io.mortise.cli.view;

import org.jspecify.annotations.NullMarked;
