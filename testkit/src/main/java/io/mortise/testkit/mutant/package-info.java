/**
 * Scripts with one small change each, and a search for those that no test notices. Start reading at
 * {@link io.mortise.testkit.mutant.MutationTestRunner}.
 */
@NullMarked
package io.mortise.testkit.mutant;

import org.jspecify.annotations.NullMarked;
