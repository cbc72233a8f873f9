/**
 * A client of HTTP servers for the stores of other modules: reused connections, a limit of
 * concurrent requests, and the next server or address after a failure. Start reading at {@link
 * io.mortise.support.http.HttpServers}.
 */
@NullMarked
package io.mortise.support.http;

import org.jspecify.annotations.NullMarked;
