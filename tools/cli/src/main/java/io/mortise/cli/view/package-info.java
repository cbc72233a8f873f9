/**
 * Selections and details of locks, and diagnostics of a store. Start at {@link
 * io.mortise.cli.view.LockSelection}.
 */
@NullMarked
package io.mortise.cli.view;

import org.jspecify.annotations.NullMarked;
