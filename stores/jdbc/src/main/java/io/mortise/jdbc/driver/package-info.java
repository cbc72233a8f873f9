/** What a database driver makes by its name, hence public; not for use by anybody else. */
@NullMarked
package io.mortise.jdbc.driver;

import org.jspecify.annotations.NullMarked;
