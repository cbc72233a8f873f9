/**
 * Mutation tests of scripts: a search for small changes that no test detects. Start reading at
 * {@link io.mortise.verification.mutant.MutationTestRunner}.
 */
@NullMarked
package io.mortise.verification.mutant;

import org.jspecify.annotations.NullMarked;
