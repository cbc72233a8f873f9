package io.mortise.dynamodb;

import io.mortise.spi.StoreUrl;
import io.mortise.support.http.HttpTarget;
import io.mortise.support.internal.server.ServerUrl;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The table, and how to use it. Holds no secret.
 *
 * @param endpoint null for that of the region
 * @param region which is signed for
 * @param prefix the begin of each partition's name; no two namespaces share partitions
 * @param poll after which a watched document is read again
 * @param create whether a missing table is made
 * @param ca a file of trusted certificates; null for those of the JVM
 */
record DynamoDbTarget(
    @Nullable URI endpoint,
    String region,
    String table,
    String prefix,
    Duration timeout,
    Duration poll,
    boolean create,
    @Nullable Path ca,
    String display) {
  private static final Pattern FORM =
      Pattern.compile("dynamodb://([^/@]+)/([A-Za-z0-9_.-]{3,255})");
  private static final Pattern REGION = Pattern.compile("[a-z]{2,}(?:-[a-z]+)+-\\d+");
  private static final Pattern ENDPOINT =
      Pattern.compile("(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:]+]):\\d{1,5}");
  private static final Set<String> PARAMETERS = Set.of("namespace", "timeout", "poll", "create");
  private static final Set<String> PARAMETERS_OF_ENDPOINT =
      Set.of("namespace", "timeout", "poll", "create", "tls", "ca", "region");

  /** The variables that name the region of an endpoint, the first one first. */
  private static final List<String> VARIABLES = List.of("AWS_REGION", "AWS_DEFAULT_REGION");

  /** That of endpoints that do not care. */
  private static final String ANY_REGION = "us-east-1";

  private static final String TABLE_FORM =
      "A table's name has 3 to 255 of the characters A-Z a-z 0-9 '_' '.' '-'.";

  private static final Duration DEFAULT_POLL = Duration.ofMillis(500);
  private static final Duration SHORTEST_POLL = Duration.ofMillis(20);
  private static final Duration LONGEST_POLL = Duration.ofMinutes(1);

  static DynamoDbTarget parse(StoreUrl url) {
    return parse(url, System.getenv());
  }

  static DynamoDbTarget parse(StoreUrl url, Map<String, String> environment) {
    Matcher parts = FORM.matcher(url.base());
    if (parts.matches() && REGION.matcher(parts.group(1)).matches()) {
      url.allowOnly(PARAMETERS);
      return of(url, null, parts.group(1), parts, null);
    } else if (parts.matches() && ENDPOINT.matcher(parts.group(1)).matches()) {
      url.allowOnly(PARAMETERS_OF_ENDPOINT);
      boolean tls = url.flag("tls", false);
      StoreUrl server = StoreUrl.parse("dynamodb://" + parts.group(1));
      URI endpoint = ServerUrl.parse(server, 0, "").urisWithHost(url, tls).get(0);
      return of(url, endpoint, region(url, environment), parts, ServerUrl.trusted(url, tls));
    }
    throw new IllegalArgumentException(
        "'%s' names no region and table. Write it like dynamodb://eu-central-1/locks, or for another endpoint dynamodb://host:8000/locks. %s Credentials never stand in it."
            .formatted(url, TABLE_FORM));
  }

  /** The one that requests to an endpoint are signed for. */
  private static String region(StoreUrl url, Map<String, String> environment) {
    String given =
        VARIABLES.stream()
            .map(name -> environment.getOrDefault(name, ""))
            .filter(value -> !value.isBlank())
            .findFirst()
            .orElse(ANY_REGION);
    String region = url.parameter("region", given);
    if (!REGION.matcher(region).matches()) {
      throw new IllegalArgumentException(
          "'%s' is not a region that requests of store URL '%s' can be signed for. Give the parameter region, or the variable AWS_REGION, one like eu-central-1."
              .formatted(region, url));
    }
    return region;
  }

  /**
   * Of a client that is there already.
   *
   * @param region of the client
   * @param endpoint of the client; null for that of its region
   */
  static DynamoDbTarget parse(
      String region, String table, String parameters, @Nullable URI endpoint) {
    StoreUrl url = StoreUrl.parse("dynamodb://" + region + "/" + table + "?" + parameters);
    Matcher parts = FORM.matcher(url.base());
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "'%s' cannot be the name of a table. %s".formatted(table, TABLE_FORM));
    }
    url.allowOnly(PARAMETERS);
    return of(url, endpoint, region, parts, null);
  }

  private static DynamoDbTarget of(
      StoreUrl url, @Nullable URI endpoint, String region, Matcher parts, @Nullable Path ca) {
    return new DynamoDbTarget(
        endpoint,
        region,
        parts.group(2),
        prefix(url),
        ServerUrl.timeout(url),
        ServerUrl.duration(url, "poll", DEFAULT_POLL, SHORTEST_POLL, LONGEST_POLL),
        url.flag("create", false),
        ca,
        "dynamodb:" + parts.group(1) + "/" + parts.group(2));
  }

  private static String prefix(StoreUrl url) {
    String namespace = ServerUrl.namespace(url, "_", "-");
    return namespace.isEmpty() ? "" : namespace + "/";
  }

  /** The same, for messages on connections. */
  HttpTarget http() {
    URI server = endpoint == null ? URI.create("https://dynamodb." + region) : endpoint;
    return new HttpTarget("DynamoDB", List.of(server), timeout, ca, display);
  }

  @Override
  public String toString() {
    return display;
  }
}
