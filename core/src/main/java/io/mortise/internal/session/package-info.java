/**
 * The session of a process in a store: its renewals, its deadline, and the validity that leases
 * derive from it. Start at {@link io.mortise.internal.session.SessionRenewer}; nothing here depends
 * on locks.
 */
@NullMarked
package io.mortise.internal.session;

import org.jspecify.annotations.NullMarked;
