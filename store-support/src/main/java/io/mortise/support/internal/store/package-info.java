/**
 * Code that the library's stores share beside the lock table itself; users of the library do not
 * call it. Start reading at {@link io.mortise.support.internal.store.Refusals}.
 */
@NullMarked
package io.mortise.support.internal.store;

import org.jspecify.annotations.NullMarked;
