package io.mortise.field.rolling;

import java.util.Set;

/**
 * A time in which something was done to the deployment, in milliseconds since 1970.
 *
 * @param fault for people
 * @param victims instances or hosts; empty for the servers of the locks
 * @param announced whether its victims were asked to end, and so owe that nobody waits for them
 */
record FaultWindow(String fault, Set<String> victims, boolean announced, long from, long until) {

  boolean isOfServers() {
    return victims.isEmpty();
  }

  /** Whether this was done to an instance, or to its host. */
  boolean harms(String instance) {
    return victims.stream().anyMatch(victim -> instance.startsWith(victim));
  }

  /** Whether any part of the time lies in it, or less than a while after it. */
  boolean touches(long begin, long end, long after) {
    return from <= end && begin <= until + after;
  }
}
