package io.mortise.camel;

import java.util.function.BooleanSupplier;
import org.apache.camel.cluster.CamelClusterMember;

/**
 * A member as Camel sees it.
 *
 * @param id of its cluster service
 * @param local whether it is the view's own
 * @param leads whether it leads; asked each time for the local one, a fixed answer for others
 */
record ViewMember(String id, boolean local, BooleanSupplier leads) implements CamelClusterMember {
  @Override
  public String getId() {
    return id;
  }

  @Override
  public boolean isLeader() {
    return leads.getAsBoolean();
  }

  @Override
  public boolean isLocal() {
    return local;
  }

  @Override
  public String toString() {
    return id + (local ? " (local)" : "") + (isLeader() ? " (leader)" : "");
  }
}
