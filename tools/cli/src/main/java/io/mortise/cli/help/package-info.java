/**
 * How the tool explains itself: help in groups, and the command that was meant. Start at {@link
 * io.mortise.cli.help.HelpLayout}.
 */
@NullMarked
package io.mortise.cli.help;

import org.jspecify.annotations.NullMarked;
