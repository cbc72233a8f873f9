/**
 * What people and programs are shown of locks and guarantees, by the console and on the command
 * line. Start at {@link io.mortise.console.view.LockFormatter}; all text of others passes {@link
 * io.mortise.console.view.OutputSanitizer}.
 */
@NullMarked
package io.mortise.console.view;

import org.jspecify.annotations.NullMarked;
