/**
 * The contracts that every store runs, each in its own package, and the proof that none is left
 * out: start at {@link io.mortise.testkit.contract.ContractCoverage}.
 */
@NullMarked
package io.mortise.testkit.contract;

import org.jspecify.annotations.NullMarked;
