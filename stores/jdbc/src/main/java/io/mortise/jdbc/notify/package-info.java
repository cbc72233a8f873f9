/**
 * How a session of this process learns of its notifications: by polling ({@code
 * NotificationPoller}), by files beside a database file ({@code FileNotifier}), or as a server
 * pushes them ({@code NotificationListener}). Not exported.
 */
@NullMarked
package io.mortise.jdbc.notify;

import org.jspecify.annotations.NullMarked;
