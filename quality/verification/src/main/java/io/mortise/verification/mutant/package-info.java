/**
 * Scripts with one small change each, and a search for those that no test notices. Start reading at
 * {@link io.mortise.verification.mutant.MutationTestRunner}.
 */
@NullMarked
package io.mortise.verification.mutant;

import org.jspecify.annotations.NullMarked;
