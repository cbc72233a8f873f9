/**
 * The answers of the console's API, which {@code docs/reference/console-api.md} lists. Start at
 * {@link io.mortise.console.internal.api.ConsoleApi}.
 */
@NullMarked
package io.mortise.console.internal.api;

import org.jspecify.annotations.NullMarked;
