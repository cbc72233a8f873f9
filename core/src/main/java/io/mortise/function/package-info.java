/**
 * Tasks that may throw what they like: the compiler infers the exception, so that a task without
 * checked exceptions asks for no {@code catch}.
 */
@NullMarked
package io.mortise.function;

import org.jspecify.annotations.NullMarked;
