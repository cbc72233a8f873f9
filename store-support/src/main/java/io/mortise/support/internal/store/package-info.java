/**
 * What stores have in common beside the lock table itself, for the stores of the library; users of
 * the library do not call it. Start reading at {@link io.mortise.support.internal.store.Refusals}.
 */
@NullMarked
package io.mortise.support.internal.store;

import org.jspecify.annotations.NullMarked;
