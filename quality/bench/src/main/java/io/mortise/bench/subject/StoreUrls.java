package io.mortise.bench.subject;

import io.mortise.bench.subject.Subjects.SubjectStore;
import java.net.URI;
import java.util.Map;

/**
 * Where the stores of a run are.
 *
 * @param urls of each place that is there; of SQLite the file
 */
public record StoreUrls(Map<SubjectStore, String> urls) {
  /** Makes it immutable. */
  public StoreUrls {
    urls = Map.copyOf(urls);
  }

  /** The URL of a place that is there. */
  public String url(SubjectStore storeKind) {
    String url = urls.get(storeKind);
    if (url == null) {
      throw new IllegalStateException("There is no " + storeKind + " in this run.");
    }
    return url;
  }

  String redisHost() {
    return URI.create(url(SubjectStore.REDIS)).getHost();
  }

  /** The servers as ZooKeeper's clients want them: {@code host:port}, separated by commas. */
  public String zooKeeperServers() {
    String rest = url(SubjectStore.ZOOKEEPER).substring("zk://".length());
    int path = rest.indexOf('/');
    return path < 0 ? rest : rest.substring(0, path);
  }

  /** The first host and port of a place. */
  String address(SubjectStore storeKind) {
    return url(storeKind).replaceFirst("^[a-z]+://", "").replaceAll("[,/?].*", "");
  }

  int redisPort() {
    int port = URI.create(url(SubjectStore.REDIS)).getPort();
    return port < 0 ? 6379 : port;
  }
}
