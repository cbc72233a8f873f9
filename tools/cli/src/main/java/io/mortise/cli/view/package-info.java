/**
 * Which locks are shown, in which order, and what a store tells of itself. Start at {@link
 * io.mortise.cli.view.LockSelection}.
 */
@NullMarked
package io.mortise.cli.view;

import org.jspecify.annotations.NullMarked;
