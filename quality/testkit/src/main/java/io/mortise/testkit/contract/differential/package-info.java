/**
 * A store beside its reference under the same random commands: start at {@link
 * io.mortise.testkit.contract.differential.DifferentialContract}.
 */
@NullMarked
package io.mortise.testkit.contract.differential;

import org.jspecify.annotations.NullMarked;
