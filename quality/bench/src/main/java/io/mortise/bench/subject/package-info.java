/**
 * Subjects of the bench: Mortise, other lock libraries, and hand-written protocols that mark the
 * limit of the store. {@link io.mortise.bench.subject.Subjects} lists them; to add one, write a
 * {@link io.mortise.bench.subject.Subject} and name it there.
 */
@NullMarked
package io.mortise.bench.subject;

import org.jspecify.annotations.NullMarked;
