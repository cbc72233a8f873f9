/**
 * A deterministic simulation of the engine over the lock table: virtual time, several processes,
 * one store, and faults, all from one seed. Start reading at {@link
 * io.mortise.simulation.SimulationTest}.
 */
@NullMarked
package io.mortise.simulation;

import org.jspecify.annotations.NullMarked;
