/**
 * The output of the tool: tables, pages, and streams without control characters. Start at {@link
 * io.mortise.cli.output.LockListing}.
 */
@NullMarked
package io.mortise.cli.output;

import org.jspecify.annotations.NullMarked;
