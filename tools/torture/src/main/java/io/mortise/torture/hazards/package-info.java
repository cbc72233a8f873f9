/**
 * Hazards of distributed locks from the literature, as small stories on real servers: first with
 * the naive lock, which breaks, then with Mortise. Start reading at {@link
 * io.mortise.torture.hazards.HazardCatalog}; each story is a class.
 */
@NullMarked
package io.mortise.torture.hazards;

import org.jspecify.annotations.NullMarked;
