/**
 * Tasks that may throw any exception. The compiler infers its type, so that a task without checked
 * exceptions needs no {@code catch}.
 */
@NullMarked
package io.mortise.function;

import org.jspecify.annotations.NullMarked;
