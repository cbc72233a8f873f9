/** Marks on public API, below all other packages. See {@link io.mortise.annotation.Beta}. */
@NullMarked
package io.mortise.annotation;

import org.jspecify.annotations.NullMarked;
