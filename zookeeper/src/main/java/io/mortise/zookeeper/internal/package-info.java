/**
 * What both layouts have in common: where the servers are ({@code Servers}), connections to them
 * ({@code Handle}), and how a session calls back ({@code Guard}, {@code Inbox}). Not for users.
 */
@NullMarked
package io.mortise.zookeeper.internal;

import org.jspecify.annotations.NullMarked;
