package io.mortise.bench.subject;

import io.mortise.bench.subject.Subjects.SubjectStore;
import java.net.URI;
import java.util.Map;

/**
 * The URLs of a run's stores.
 *
 * @param urls by store, if available; a file for SQLite
 */
public record StoreUrls(Map<SubjectStore, String> urls) {
  /** Makes it immutable. */
  public StoreUrls {
    urls = Map.copyOf(urls);
  }

  /** The URL of an available store. */
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

  /** The first host and port of a store. */
  String address(SubjectStore storeKind) {
    return url(storeKind).replaceFirst("^[a-z]+://", "").replaceAll("[,/?].*", "");
  }

  int redisPort() {
    int port = URI.create(url(SubjectStore.REDIS)).getPort();
    return port < 0 ? 6379 : port;
  }
}
