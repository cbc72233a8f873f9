/**
 * What the tool prints: locks, guarantees and JSON, cleaned of secrets and control characters.
 * Start at {@link io.mortise.cli.output.OutputSanitizer}, through which all text of others passes.
 */
@NullMarked
package io.mortise.cli.output;

import org.jspecify.annotations.NullMarked;
