/**
 * Explicit-state model checking. Start reading at {@link
 * io.mortise.verification.model.ModelChecker}.
 */
@NullMarked
package io.mortise.verification.model;

import org.jspecify.annotations.NullMarked;
