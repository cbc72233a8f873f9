/**
 * A small store, as an example for authors of stores: documents with a version, changed by
 * compare-and-set only. Start reading at {@link io.mortise.simulation.toy.ToyStore}.
 */
@NullMarked
package io.mortise.simulation.toy;

import org.jspecify.annotations.NullMarked;
