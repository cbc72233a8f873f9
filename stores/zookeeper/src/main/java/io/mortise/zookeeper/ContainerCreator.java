package io.mortise.zookeeper;

import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;

/**
 * Makes locks' missing containers, in the flush of the creation that needs one that is not known to
 * exist. Guarded by its session.
 */
final class ContainerCreator {
  private static final int KNOWN = 4_096;

  private final SessionCore core;

  /**
   * Hashes of containers that existed, each in its slot. A container may be gone after long disuse,
   * and two may have the same hash: then a creation fails, and is sent again together with that of
   * the container.
   */
  private final int[] known = new int[KNOWN];

  ContainerCreator(SessionCore core) {
    this.core = core;
  }

  /**
   * Makes the container of a creation, unless it is known to exist.
   *
   * @param again whether an earlier attempt may have found no parent node
   */
  void ensure(NodeOperation.Create work, boolean again) {
    int hash = hash(work.lock());
    if (known[slot(hash)] != hash) {
      known[slot(hash)] = hash;
      if (again) {
        core.makeContainers(NodeLayout.parent(work.lock()));
      }
      core.makeContainer(work.lock(), NodeData.capacity(work.attempt().capacity()));
    }
  }

  /** The container is gone. */
  void forget(String lock) {
    known[slot(hash(lock))] = 0;
  }

  /** Never the value of an empty slot. */
  private static int hash(String lock) {
    int hash = lock.hashCode();
    return hash == 0 ? 1 : hash;
  }

  /** Numbered names have hashes close to each other. */
  private static int slot(int hash) {
    return (hash * 0x9E3779B9) >>> 20;
  }
}
