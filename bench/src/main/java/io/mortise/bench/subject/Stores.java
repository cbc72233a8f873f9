package io.mortise.bench.subject;

import io.mortise.bench.subject.Subjects.Place;
import java.net.URI;
import java.util.Map;

/**
 * Where the stores of a run are.
 *
 * @param urls of each place that is there; of SQLite the file
 */
public record Stores(Map<Place, String> urls) {
  /** Makes it immutable. */
  public Stores {
    urls = Map.copyOf(urls);
  }

  /** The URL of a place that is there. */
  public String url(Place place) {
    String url = urls.get(place);
    if (url == null) {
      throw new IllegalStateException("There is no " + place + " in this run.");
    }
    return url;
  }

  String redisHost() {
    return URI.create(url(Place.REDIS)).getHost();
  }

  /** The servers as ZooKeeper's clients want them: {@code host:port}, separated by commas. */
  public String zooKeeperServers() {
    String rest = url(Place.ZOOKEEPER).substring("zk://".length());
    int path = rest.indexOf('/');
    return path < 0 ? rest : rest.substring(0, path);
  }

  int redisPort() {
    int port = URI.create(url(Place.REDIS)).getPort();
    return port < 0 ? 6379 : port;
  }
}
