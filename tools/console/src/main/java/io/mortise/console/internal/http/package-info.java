/**
 * HTTP, independent of locks: requests and answers as values, the rules that a request must keep,
 * the page's files, and the server of the JDK. Start at {@link
 * io.mortise.console.internal.http.ConsoleServer}.
 */
@NullMarked
package io.mortise.console.internal.http;

import org.jspecify.annotations.NullMarked;
