package io.mortise.torture.run;

import io.mortise.testkit.server.MariaDbServer;
import io.mortise.testkit.server.PostgresServer;
import io.mortise.testkit.server.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The store under torture, and what can be done to it. For one thread. */
public final class Arena implements AutoCloseable {
  /** The servers that a run can start. */
  public static final List<String> OWN = List.of("redis", "sqlite", "postgresql", "mariadb");

  private static final Pattern ADDRESS = Pattern.compile("//(?:[^@/]*@)?([^:/@,]+):(\\d+)");
  private static final Set<Fault> ON_NETWORK =
      EnumSet.of(Fault.CUT_OFF, Fault.SLOW, Fault.LOST_REPLIES, Fault.RESET);

  private final String name;
  private final String url;
  private final Set<Fault> faults;
  private final Control control;

  private Arena(String name, String url, Set<Fault> faults, Control control) {
    this.name = name;
    this.url = url;
    this.faults = faults;
    this.control = control;
  }

  /** What can be done to a server. */
  private interface Control extends AutoCloseable {
    default void pause() {
      throw new UnsupportedOperationException();
    }

    default void resume() {
      throw new UnsupportedOperationException();
    }

    default void crash() {
      throw new UnsupportedOperationException();
    }

    default void forget() {
      throw new UnsupportedOperationException();
    }

    default void losePushes() {
      throw new UnsupportedOperationException();
    }

    @Override
    default void close() {}
  }

  /**
   * Starts a server of the PATH, on a free port of the loopback.
   *
   * @param folder where an embedded store has its file
   * @return empty if the program is not installed
   */
  public static Optional<Arena> start(String server, Path folder) {
    return switch (server) {
      case "redis" -> RedisServer.installed(6).map(Arena::redis);
      case "sqlite" ->
          Optional.of(
              new Arena(
                  server,
                  "jdbc:sqlite:" + folder.resolve("locks.db"),
                  EnumSet.of(Fault.PAUSE, Fault.KILL),
                  new Control() {}));
      case "postgresql" -> PostgresServer.installed().map(Arena::postgres);
      case "mariadb" -> MariaDbServer.installed().map(Arena::mariaDb);
      default -> throw new IllegalArgumentException("There is no server '" + server + "'.");
    };
  }

  /** The user's own store: nothing is done to its server. */
  public static Arena of(String url) {
    Set<Fault> faults = EnumSet.of(Fault.PAUSE, Fault.KILL);
    if (ADDRESS.matcher(url).find()) {
      faults.addAll(ON_NETWORK);
    }
    return new Arena(url.substring(0, url.indexOf(':')), url, faults, new Control() {});
  }

  private static Arena redis(Path program) {
    RedisServer server =
        RedisServer.start(program, "--appendonly", "yes", "--appendfsync", "always");
    return new Arena(
        "redis",
        server.url(),
        EnumSet.allOf(Fault.class),
        new Control() {
          @Override
          public void pause() {
            server.pause();
          }

          @Override
          public void resume() {
            server.resume();
          }

          @Override
          public void crash() {
            server.kill();
            server.restart();
          }

          @Override
          public void forget() {
            tell("FLUSHALL");
          }

          @Override
          public void losePushes() {
            tell("CLIENT KILL TYPE pubsub");
          }

          private void tell(String command) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
              socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
              if (socket.getInputStream().read() == '-') {
                throw new IllegalStateException("Redis refused " + command + ".");
              }
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }

          @Override
          public void close() {
            server.close();
          }
        });
  }

  private static Arena postgres(Path program) {
    PostgresServer server = PostgresServer.start(program);
    return database(
        "postgresql",
        server::url,
        server::pause,
        server::resume,
        () -> {
          server.kill();
          server.restart();
        },
        server::close);
  }

  private static Arena mariaDb(Path program) {
    MariaDbServer server = MariaDbServer.start(program);
    return database(
        "mariadb",
        server::url,
        server::pause,
        server::resume,
        () -> {
          server.kill();
          server.restart();
        },
        server::close);
  }

  private static Arena database(
      String name,
      Supplier<String> url,
      Runnable pause,
      Runnable resume,
      Runnable crash,
      Runnable close) {
    Set<Fault> faults = EnumSet.of(Fault.PAUSE, Fault.KILL, Fault.SERVER_PAUSE, Fault.SERVER_CRASH);
    faults.addAll(ON_NETWORK);
    return new Arena(
        name,
        url.get(),
        faults,
        new Control() {
          @Override
          public void pause() {
            pause.run();
          }

          @Override
          public void resume() {
            resume.run();
          }

          @Override
          public void crash() {
            crash.run();
          }

          @Override
          public void close() {
            close.run();
          }
        });
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
    return EnumSet.copyOf(faults);
  }

  /** A way to the server that can go wrong; empty if the store has no server. */
  Optional<Proxy> proxy() {
    Matcher address = ADDRESS.matcher(url);
    return address.find()
        ? Optional.of(new Proxy(address.group(1), Integer.parseInt(address.group(2))))
        : Optional.empty();
  }

  /** The URL by way of a proxy. */
  String url(Proxy proxy) {
    Matcher address = ADDRESS.matcher(url);
    if (!address.find()) {
      throw new IllegalStateException("The store has no address.");
    }
    return url.substring(0, address.start(1))
        + "127.0.0.1:"
        + proxy.port()
        + url.substring(address.end(2));
  }

  void pause() {
    control.pause();
  }

  void resume() {
    control.resume();
  }

  void crash() {
    control.crash();
  }

  void forget() {
    control.forget();
  }

  void losePushes() {
    control.losePushes();
  }

  @Override
  public void close() {
    try {
      control.close();
    } catch (Exception e) {
      throw new IllegalStateException("The server '" + name + "' could not be ended.", e);
    }
  }
}
