/**
 * Fencing over HTTP: clients send the token of their lease in a header, a servlet filter reads it
 * and turns the refusal of a guard into a status. Start reading at {@link
 * io.mortise.http.FencingHeader}. The token is compared where the data is, not here.
 *
 * <p>Each class needs its library on the class path; the artifact has no dependencies on them.
 */
@NullMarked
package io.mortise.http;

import org.jspecify.annotations.NullMarked;
