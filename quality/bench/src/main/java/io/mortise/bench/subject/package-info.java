/**
 * What is measured: Mortise, other lock libraries, and hand-written protocols that mark the limit
 * of what the store allows. {@link io.mortise.bench.subject.Subjects} lists them; to add one, write
 * a {@link io.mortise.bench.subject.Subject} and name it there.
 */
@NullMarked
package io.mortise.bench.subject;

import org.jspecify.annotations.NullMarked;
