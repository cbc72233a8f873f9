package io.mortise.field.rolling;

import java.util.Set;

/**
 * A time in which something was done to the deployment, in milliseconds since 1970.
 *
 * @param victims instances or hosts; empty if the fault is of servers or of the machine
 */
record FaultWindow(DeploymentFault fault, Set<String> victims, long from, long until) {

  /** Whether this was done to an instance, to its host or to the machine. */
  boolean harms(String instance) {
    return fault.scope() == DeploymentFault.Scope.MACHINE
        || victims.stream().anyMatch(instance::startsWith);
  }

  /** Whether any part of the time lies in it, or less than a while after it. */
  boolean touches(long begin, long end, long after) {
    return from <= end && begin <= until + after;
  }
}
