package io.mortise.quorum;

import io.mortise.spi.LockStore;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.RedisServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Independent real Redis servers, and before each a line that can be cut, for the client whose
 * network a test disturbs.
 */
final class RedisMembers implements AutoCloseable {
  final List<RedisServer> servers = new ArrayList<>();
  final List<FaultInjectionProxy> lines = new ArrayList<>();

  RedisMembers(int count, String... arguments) {
    for (int i = 0; i < count; i++) {
      add(RedisServer.start(binary(), arguments));
    }
  }

  /** The last of them runs by this clock. */
  static RedisMembers withClock(FakeClock clock, int count) {
    RedisMembers members = new RedisMembers(count - 1);
    // The build without jemalloc, which reads the clock before libfaketime is ready.
    members.add(
        RedisServer.start(
            clock, TestPrerequisites.required(RedisServer.bundled(), "The Redis server")));
    return members;
  }

  private void add(RedisServer server) {
    servers.add(server);
    lines.add(FaultInjectionProxy.to(server.port()));
  }

  /** The newest on this machine. */
  static Path binary() {
    return TestPrerequisites.required(
        RedisServer.installed(7).or(RedisServer::bundled), "The Redis server");
  }

  RedisServer server(int index) {
    return servers.get(index);
  }

  List<Integer> ports() {
    return servers.stream().map(RedisServer::port).toList();
  }

  /** The servers' ports behind the lines. */
  List<Integer> farPorts() {
    return lines.stream().map(FaultInjectionProxy::port).toList();
  }

  /** Sets the condition of the lines to all servers from this one on. */
  void conditionFrom(int first, NetworkCondition networkCondition) {
    lines.subList(first, lines.size()).forEach(line -> line.condition(networkCondition));
  }

  /** {@code quorum:…}, with these parameters. */
  String url(String parameters) {
    return url(ports(), parameters);
  }

  /** The same members, by the lines that can be cut. */
  String farUrl(String parameters) {
    return url(farPorts(), parameters);
  }

  private static String url(List<Integer> ports, String parameters) {
    return ports.stream()
            .map(port -> "redis://127.0.0.1:" + port)
            .collect(Collectors.joining(",", "quorum:", ""))
        + "?"
        + parameters;
  }

  LockStore open(String parameters) {
    return QuorumStore.open(url(parameters));
  }

  @Override
  public void close() {
    lines.forEach(FaultInjectionProxy::close);
    servers.forEach(RedisServer::close);
  }
}
