/**
 * Fencing over HTTP: clients send the token of their lease in a header, a servlet filter reads it
 * and turns the refusal of a guard into a status. Start reading at {@link
 * io.mortise.http.FencingHeader}. The token is compared where the data is, not here.
 *
 * <p>Each class wants the library that it is for on the class path; nothing is brought along.
 */
@NullMarked
package io.mortise.http;

import org.jspecify.annotations.NullMarked;
