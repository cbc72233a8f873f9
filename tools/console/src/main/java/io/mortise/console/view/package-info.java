/**
 * Output about locks and guarantees for people and programs, shared by the console and the command
 * line. Start at {@link io.mortise.console.view.LockFormatter}; all foreign text passes {@link
 * io.mortise.console.view.OutputSanitizer}.
 */
@NullMarked
package io.mortise.console.view;

import org.jspecify.annotations.NullMarked;
