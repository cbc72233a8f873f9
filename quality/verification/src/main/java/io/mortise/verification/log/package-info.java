/**
 * The log of Mortise in tests. Start reading at {@link io.mortise.verification.log.RecordedLog}.
 */
@NullMarked
package io.mortise.verification.log;

import org.jspecify.annotations.NullMarked;
