package io.mortise.quorum;

import io.mortise.redis.RedisStore;
import io.mortise.spi.LockStore;
import io.mortise.testkit.server.RedisServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/** Real Redis servers that know nothing of each other. */
final class RedisMembers implements AutoCloseable {
  final List<RedisServer> servers = new ArrayList<>();

  RedisMembers(int count, String... arguments) {
    for (int i = 0; i < count; i++) {
      servers.add(RedisServer.start(binary(), arguments));
    }
  }

  /** The best that this machine has; where there is none, the test is skipped, or on CI fails. */
  static Path binary() {
    Optional<Path> binary = RedisServer.installed(7).or(RedisServer::bundled);
    if (binary.isEmpty() && Boolean.getBoolean("mortise.ci")) {
      Assertions.fail("There is no Redis server; on CI that is a failure.");
    }
    Assumptions.assumeTrue(binary.isPresent(), "no Redis server on this machine");
    return binary.orElseThrow();
  }

  RedisServer server(int index) {
    return servers.get(index);
  }

  /** {@code quorum:…}, with these parameters. */
  String url(String parameters) {
    return servers.stream().map(RedisServer::url).collect(Collectors.joining(",", "quorum:", ""))
        + "?"
        + parameters;
  }

  LockStore open(String parameters) {
    return QuorumStore.open(url(parameters));
  }

  LockStore member(int index, String parameters) {
    return RedisStore.open(servers.get(index).url() + "?" + parameters);
  }

  @Override
  public void close() {
    servers.forEach(RedisServer::close);
  }
}
