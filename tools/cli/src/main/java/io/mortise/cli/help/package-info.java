/**
 * The help of the tool: commands and options in groups, and guesses of commands. Start at {@link
 * io.mortise.cli.help.HelpLayout}.
 */
@NullMarked
package io.mortise.cli.help;

import org.jspecify.annotations.NullMarked;
