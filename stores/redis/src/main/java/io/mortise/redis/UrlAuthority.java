package io.mortise.redis;

import io.mortise.spi.StoreUrl;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The part between the two slashes and the parameters of a URL that names several servers: {@code
 * [user:password@]host[:port],…[/path]}. Never shows the password.
 *
 * @param path without its slash
 */
record UrlAuthority(
    @Nullable String user, @Nullable String password, List<Host> hosts, String path) {
  private static final Pattern PARTS =
      Pattern.compile("[a-z-]+://(?:([^@/]*)@)?([^@/]+)(?:/([^/]*))?");
  private static final Pattern HOST =
      Pattern.compile("([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.%]+])(?::(\\d{1,5}))?");

  /** One of the servers. */
  record Host(String name, int port) {
    @Override
    public String toString() {
      return (name.contains(":") ? "[" + name + "]" : name) + ":" + port;
    }
  }

  /**
   * Parses it.
   *
   * @param example a correct URL, for the message
   * @throws IllegalArgumentException if it is not as described above
   */
  static UrlAuthority parse(StoreUrl url, int defaultPort, String example) {
    Matcher parts = PARTS.matcher(url.base());
    if (!parts.matches()) {
      throw wrong(url, example);
    }
    List<Host> hosts = new ArrayList<>();
    for (String text : parts.group(2).split(",", -1)) {
      Matcher host = HOST.matcher(text);
      if (!host.matches()) {
        throw wrong(url, example);
      }
      int port = host.group(2) == null ? defaultPort : Integer.parseInt(host.group(2));
      hosts.add(new Host(host.group(1).replaceAll("[\\[\\]]", ""), port));
    }
    String info = parts.group(1);
    int colon = info == null ? -1 : info.indexOf(':');
    try {
      return new UrlAuthority(
          colon <= 0 ? null : decode(info.substring(0, colon)),
          info == null || info.isEmpty() ? null : decode(info.substring(colon + 1)),
          hosts,
          parts.group(3) == null ? "" : decode(parts.group(3)));
    } catch (IllegalArgumentException showsThePart) {
      throw wrong(url, example);
    }
  }

  static String decode(String part) {
    return StoreUrl.decode(part);
  }

  static IllegalArgumentException wrong(StoreUrl url, String example) {
    return new IllegalArgumentException(
        "'" + url + "' is not a URL of this kind. Write it like " + example + ".");
  }

  /** The servers alone, as in messages. */
  String shown() {
    return String.join(",", hosts.stream().map(Host::toString).toList());
  }

  @Override
  public String toString() {
    return shown() + "/" + path;
  }
}
