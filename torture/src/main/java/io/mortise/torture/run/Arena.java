package io.mortise.torture.run;

import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.MariaDbServer;
import io.mortise.testkit.server.PostgresServer;
import io.mortise.testkit.server.RedisServer;
import io.mortise.testkit.server.Relay;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The store under torture, and what can be done to it. For one thread. */
public final class Arena implements AutoCloseable {
  /** The servers that a run can start. */
  public static final List<String> OWN = List.of("redis", "sqlite", "postgresql", "mariadb");

  private static final Pattern ADDRESS = Pattern.compile("//(?:[^@/]*@)?([^:/@,]+):(\\d+)");
  private static final Set<Fault> ON_PROCESSES = EnumSet.of(Fault.PAUSE, Fault.KILL);
  private static final Set<Fault> ON_NETWORK =
      EnumSet.of(Fault.CUT_OFF, Fault.SLOW, Fault.LOST_REPLIES, Fault.RESET);
  private static final Set<Fault> ON_SERVER = EnumSet.of(Fault.SERVER_PAUSE, Fault.SERVER_CRASH);
  private static final Set<Fault> ON_REDIS = EnumSet.of(Fault.FORGET, Fault.PUSH_LOSS);

  private final String name;
  private final String url;

  /** Null if it is the user's, or there is none. */
  private final @Nullable LocalServer server;

  private Arena(String name, String url, @Nullable LocalServer server) {
    this.name = name;
    this.url = url;
    this.server = server;
  }

  private Arena(String name, LocalServer server) {
    this(name, server.url(), server);
  }

  /**
   * Starts a server of the PATH, on a free port of the loopback.
   *
   * @param folder where an embedded store has its file
   * @return empty if the program is not installed
   */
  public static Optional<Arena> start(String server, Path folder) {
    return switch (server) {
      case "redis" ->
          RedisServer.installed(6)
              .map(
                  program ->
                      RedisServer.start(program, "--appendonly", "yes", "--appendfsync", "always"))
              .map(started -> new Arena(server, started));
      case "sqlite" ->
          Optional.of(new Arena(server, "jdbc:sqlite:" + folder.resolve("locks.db"), null));
      case "postgresql" ->
          PostgresServer.installed()
              .map(programs -> new Arena(server, PostgresServer.start(programs)));
      case "mariadb" ->
          MariaDbServer.installed().map(program -> new Arena(server, MariaDbServer.start(program)));
      default -> throw new IllegalArgumentException("There is no server '" + server + "'.");
    };
  }

  /** The user's own store: nothing is done to its server. */
  public static Arena of(String url) {
    return new Arena(url.substring(0, url.indexOf(':')), url, null);
  }

  /** What to call it. */
  public String name() {
    return name;
  }

  /** Its URL; may hold a password. */
  public String url() {
    return url;
  }

  /** What can go wrong here. */
  public Set<Fault> faults() {
    Set<Fault> faults = EnumSet.copyOf(ON_PROCESSES);
    if (ADDRESS.matcher(url).find()) {
      faults.addAll(ON_NETWORK);
    }
    if (server != null) {
      faults.addAll(ON_SERVER);
    }
    if (server instanceof RedisServer) {
      faults.addAll(ON_REDIS);
    }
    return faults;
  }

  /** A way to the server that can go wrong; empty if the store has no server. */
  Optional<Relay> relay() {
    Matcher address = ADDRESS.matcher(url);
    return address.find()
        ? Optional.of(Relay.to(address.group(1), Integer.parseInt(address.group(2))))
        : Optional.empty();
  }

  /** The URL by way of a relay. */
  String url(Relay relay) {
    Matcher address = ADDRESS.matcher(url);
    if (!address.find()) {
      throw new IllegalStateException("The store has no address.");
    }
    return url.substring(0, address.start(1))
        + "127.0.0.1:"
        + relay.port()
        + url.substring(address.end(2));
  }

  private LocalServer server() {
    if (server == null) {
      throw new UnsupportedOperationException("Store '" + name + "' has no server of this run.");
    }
    return server;
  }

  void pause() {
    server().pause();
  }

  void resume() {
    server().resume();
  }

  void crash() {
    server().kill();
    server().restart();
  }

  void forget() {
    ((RedisServer) server()).ask("FLUSHALL");
  }

  void losePushes() {
    ((RedisServer) server()).ask("CLIENT", "KILL", "TYPE", "pubsub");
  }

  @Override
  public void close() {
    if (server != null) {
      server.close();
    }
  }
}
