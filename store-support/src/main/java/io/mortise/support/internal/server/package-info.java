/**
 * Servers of all stores: addresses, identity, TLS, sockets. Start reading at {@link
 * io.mortise.support.internal.server.ServerUrl}.
 */
@NullMarked
package io.mortise.support.internal.server;

import org.jspecify.annotations.NullMarked;
