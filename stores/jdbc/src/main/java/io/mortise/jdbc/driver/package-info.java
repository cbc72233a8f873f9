/** Classes that a database driver instantiates by name, hence public. Not for other use. */
@NullMarked
package io.mortise.jdbc.driver;

import org.jspecify.annotations.NullMarked;
