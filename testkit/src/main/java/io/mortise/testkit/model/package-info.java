/**
 * Explicit-state model checking. Start reading at {@link io.mortise.testkit.model.ModelChecker}.
 */
@NullMarked
package io.mortise.testkit.model;

import org.jspecify.annotations.NullMarked;
