/**
 * Reads the locks of a store, and ends holds and waits of other clients: {@link
 * io.mortise.admin.LockAdmin}, from {@link io.mortise.LockClient#admin()}.
 */
@NullMarked
package io.mortise.admin;

import org.jspecify.annotations.NullMarked;
