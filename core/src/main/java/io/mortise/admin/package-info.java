/**
 * Looking at the locks of a store, and ending what others hold: {@link io.mortise.admin.LockAdmin},
 * which {@link io.mortise.LockClient#admin()} gives.
 */
@NullMarked
package io.mortise.admin;

import org.jspecify.annotations.NullMarked;
