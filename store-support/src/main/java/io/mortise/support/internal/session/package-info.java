/**
 * Sessions of all stores: refusals, notifications, ends of holds. Start reading at {@link
 * io.mortise.support.internal.session.Refusals}.
 */
@NullMarked
package io.mortise.support.internal.session;

import org.jspecify.annotations.NullMarked;
