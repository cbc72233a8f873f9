/**
 * A store outside of Mortise: documents in files, and the suites that test it. Start reading at
 * {@link io.mortise.simulation.file.FileDocuments}.
 */
@NullMarked
package io.mortise.simulation.file;

import org.jspecify.annotations.NullMarked;
