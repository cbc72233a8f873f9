/**
 * Which locks are shown, and in which order. Start at {@link io.mortise.cli.view.LockSelection}.
 */
@NullMarked
package io.mortise.cli.view;

import org.jspecify.annotations.NullMarked;
