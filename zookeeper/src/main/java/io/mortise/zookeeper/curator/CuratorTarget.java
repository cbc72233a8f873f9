package io.mortise.zookeeper.curator;

import io.mortise.spi.StoreUrl;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** What a URL of the store says: where the ensemble is, and how its locks are laid out. */
record CuratorTarget(
    String display, String hosts, String chroot, LockPaths paths, Recipe recipe, Duration tick) {
  private static final Set<String> PARAMETERS = Set.of("base", "recipe", "tick");

  static CuratorTarget of(StoreUrl url) {
    url.allowOnly(PARAMETERS);
    String rest = url.base().substring(url.scheme().length() + 1);
    if (!rest.startsWith("//") || rest.length() == 2 || rest.startsWith("///")) {
      throw new IllegalArgumentException(
          "Store URL '"
              + url
              + "' names no server. Write it like zk+curator://h1:2181,h2:2181/chroot.");
    }
    int slash = rest.indexOf('/', 2);
    String hosts = slash < 0 ? rest.substring(2) : rest.substring(2, slash);
    String chroot = slash < 0 ? "" : rest.substring(slash);
    chroot = chroot.equals("/") ? "" : chroot;
    new LockPaths(chroot);
    return new CuratorTarget(
        "zk+curator:" + hosts + chroot,
        hosts,
        chroot,
        new LockPaths(url.parameter("base", "")),
        recipe(url),
        url.duration("tick", Duration.ofSeconds(2)));
  }

  private static Recipe recipe(StoreUrl url) {
    String word = url.parameter("recipe", "mutex");
    return switch (word) {
      case "mutex" -> Recipe.MUTEX;
      case "readwrite" -> Recipe.READ_WRITE;
      default ->
          throw new IllegalArgumentException(
              "Parameter 'recipe' of store URL '"
                  + url
                  + "' is '"
                  + word
                  + "'. Expected mutex or readwrite.");
    };
  }

  CuratorTarget withoutChroot() {
    return new CuratorTarget(display, hosts, "", paths, recipe, tick);
  }

  List<ACL> acl() {
    return Ids.OPEN_ACL_UNSAFE;
  }

  ZooKeeper connect(int timeoutMillis, Watcher watcher) throws IOException {
    return new ZooKeeper(hosts + chroot, timeoutMillis, watcher);
  }
}
