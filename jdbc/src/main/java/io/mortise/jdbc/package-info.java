/** The database store: one public factory, the rest package-private. */
@NullMarked
package io.mortise.jdbc;

import org.jspecify.annotations.NullMarked;
