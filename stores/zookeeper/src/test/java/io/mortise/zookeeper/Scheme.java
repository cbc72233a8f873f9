package io.mortise.zookeeper;

import io.mortise.LockName;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/** The two layouts, for tests that both must pass, and the places of their nodes. */
enum Scheme {
  ZK("zk"),
  CURATOR("zk+curator");

  private final String word;

  Scheme(String word) {
    this.word = word;
  }

  /** A store below a root of its own, with read/write locks. */
  String url(String servers, String root) {
    return this == ZK
        ? word + "://" + servers + root + "?tick=100ms"
        : word + "://" + servers + "?tick=100ms&recipe=readwrite&base=" + root;
  }

  /** All nodes of attempts at a lock, or at permits, with their paths. */
  List<String> nodes(ZooKeeper client, String root, String lock) throws Exception {
    List<String> directories =
        this == ZK
            ? List.of(new NodeLayout(root).lock(LockName.of(lock)))
            : List.of(
                root + "/" + lock, root + "/" + lock + "/leases", root + "/" + lock + "/locks");
    List<String> found = new ArrayList<>();
    for (String directory : directories) {
      try {
        client.getChildren(directory, false).stream()
            .filter(child -> !child.equals("leases") && !child.equals("locks"))
            .forEach(child -> found.add(directory + "/" + child));
      } catch (KeeperException.NoNodeException e) {
        // The lock is unused.
      }
    }
    return found;
  }

  @Override
  public String toString() {
    return word;
  }
}
