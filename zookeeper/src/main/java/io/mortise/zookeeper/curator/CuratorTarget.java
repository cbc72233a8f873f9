package io.mortise.zookeeper.curator;

import io.mortise.spi.StoreUrl;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** What a URL of the store says: where the ensemble is, and how its locks are laid out. */
record CuratorTarget(
    String hosts,
    String chroot,
    @Nullable String digest,
    List<ACL> acl,
    LockPaths paths,
    Recipe recipe,
    Duration tick) {
  private static final Set<String> PARAMETERS = Set.of("acl", "base", "recipe", "tick");

  private static final Pattern BASE =
      Pattern.compile("zk\\+curator://(?:(.*)@)?([^/@]+)((?:/[^/]+)*)/?");

  static CuratorTarget of(StoreUrl url) {
    url.allowOnly(PARAMETERS);
    Matcher base = BASE.matcher(url.base());
    String userInfo = base.matches() ? base.group(1) : null;
    if (!base.matches() || (userInfo != null && userInfo.indexOf(':') < 1)) {
      throw new IllegalArgumentException(
          "'"
              + url
              + "' is not the URL of a ZooKeeper. Write it like"
              + " zk+curator://user:password@host1:2181,host2:2181/chroot, special characters of the password as %XX.");
    }
    String chroot = base.group(3);
    String trouble = chroot.isEmpty() ? null : LockPaths.trouble(chroot.substring(1));
    if (trouble != null) {
      throw new IllegalArgumentException("The path in store URL '" + url + "' " + trouble + ".");
    }
    String digest =
        userInfo == null
            ? null
            : URLDecoder.decode(userInfo.replace("+", "%2B"), StandardCharsets.UTF_8);
    return new CuratorTarget(
        base.group(2),
        chroot,
        digest,
        acl(url, digest != null),
        new LockPaths(url.parameter("base", "")),
        recipe(url),
        url.duration("tick", Duration.ofSeconds(2)));
  }

  // The lists of ZooKeeper itself: it asks them whether they contain null, which others refuse.
  private static List<ACL> acl(StoreUrl url, boolean authenticated) {
    String word = url.parameter("acl", authenticated ? "creator" : "open");
    if (word.equals("open")) {
      return Ids.OPEN_ACL_UNSAFE;
    } else if (word.equals("creator") && authenticated) {
      return Ids.CREATOR_ALL_ACL;
    }
    throw new IllegalArgumentException(
        "Parameter 'acl' of store URL '"
            + url
            + "' is '"
            + word
            + "'. Expected open, or creator where the URL names a user.");
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

  /** What to call it; shows no user. */
  String display() {
    return "zk+curator:" + hosts + chroot + paths.base();
  }

  CuratorTarget withoutChroot() {
    return new CuratorTarget(hosts, "", digest, acl, paths, recipe, tick);
  }

  /** A client that begins to connect. Does not wait. */
  ZooKeeper connect(int timeoutMillis, Watcher watcher) throws IOException {
    ZooKeeper client = new ZooKeeper(hosts + chroot, timeoutMillis, watcher);
    if (digest != null) {
      client.addAuthInfo("digest", digest.getBytes(StandardCharsets.UTF_8));
    }
    return client;
  }

  @Override
  public String toString() {
    return display();
  }
}
