/**
 * Other versions of libraries. Start reading at {@link
 * io.mortise.verification.library.LibraryVersions}.
 */
@NullMarked
package io.mortise.verification.library;

import org.jspecify.annotations.NullMarked;
