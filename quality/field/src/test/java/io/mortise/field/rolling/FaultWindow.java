package io.mortise.field.rolling;

import java.util.Set;

/**
 * The window of a fault, in milliseconds since 1970.
 *
 * @param victims instances or hosts; empty if the fault is of servers or of the machine
 */
record FaultWindow(DeploymentFault fault, Set<String> victims, long from, long until) {

  /** Whether the fault hits an instance, its host or the machine. */
  boolean harms(String instance) {
    return fault.scope() == DeploymentFault.Scope.MACHINE
        || victims.stream().anyMatch(instance::startsWith);
  }

  /** Whether a time overlaps the window extended by {@code after}. */
  boolean touches(long begin, long end, long after) {
    return from <= end && begin <= until + after;
  }
}
