/**
 * A client of HTTP servers for the stores of other modules: connections that are kept, turns, the
 * next server or address when one fails. Start reading at {@link
 * io.mortise.support.http.HttpServers}.
 */
@NullMarked
package io.mortise.support.http;

import org.jspecify.annotations.NullMarked;
