package io.mortise.zookeeper;

import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;

/**
 * Makes locks' containers where they are missing: in the flush of the creation that needs one, and
 * none that is known to have been there. Guarded by its session.
 */
final class ContainerCreator {
  private static final int KNOWN = 4_096;

  private final SessionCore core;

  /**
   * Hashes of containers that were there, each in its slot. They may be gone when nobody has used
   * them for long, and two may have the same hash: then a creation fails, and is sent again
   * together with that of the container.
   */
  private final int[] known = new int[KNOWN];

  ContainerCreator(SessionCore core) {
    this.core = core;
  }

  /**
   * Makes the container of a creation, unless it was there before.
   *
   * @param again whether an earlier attempt may have found nothing to stand on
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

  /** It is gone. */
  void forget(String lock) {
    known[slot(hash(lock))] = 0;
  }

  /** Never that of an empty slot. */
  private static int hash(String lock) {
    int hash = lock.hashCode();
    return hash == 0 ? 1 : hash;
  }

  /** Names that are numbered have hashes close to each other. */
  private static int slot(int hash) {
    return (hash * 0x9E3779B9) >>> 20;
  }
}
