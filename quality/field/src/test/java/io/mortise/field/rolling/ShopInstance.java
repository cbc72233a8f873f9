package io.mortise.field.rolling;

import io.mortise.testkit.BoundedWait;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An instance of the shop on a host, with the same address after each restart. Thread-safe. */
final class ShopInstance {
  /** The bound of a start, and of a recovery. */
  static final Duration START = Duration.ofMinutes(2);

  private static final Duration LOOK = Duration.ofMillis(300);
  private static final Duration HEALTH = Duration.ofSeconds(3);

  /** Spring Boot's grace period is 30 s. */
  private static final long GRACE_SECONDS = 45;

  private static final HttpClient HTTP = HttpClient.newBuilder().connectTimeout(HEALTH).build();

  private final String name;
  private final SimulatedHost host;
  private final int port;
  private final Path log;
  private final Command command;
  private volatile @Nullable HostProcess process;

  /** The command that starts an instance. */
  interface Command {
    /** The whole command, for an instance that has this name and listens at this address. */
    List<String> of(String name, String address, int port, List<String> jvmOptions)
        throws IOException;
  }

  /** Creates an instance without starting it. */
  ShopInstance(String name, SimulatedHost host, int port, Path folder, Command command) {
    this.name = name;
    this.host = host;
    this.port = port;
    this.log = folder.resolve(name + ".log");
    this.command = command;
  }

  String name() {
    return name;
  }

  SimulatedHost host() {
    return host;
  }

  URI address() {
    return URI.create("http://" + host.address() + ":" + port);
  }

  HostProcess process() {
    HostProcess started = process;
    if (started == null) {
      throw new IllegalStateException(name + " was never started.");
    }
    return started;
  }

  /** Starts it, and does not wait for it. */
  void start() throws IOException {
    List<String> whole = new ArrayList<>(command.of(name, host.address(), port, host.jvmOptions()));
    process = host.start(whole, log);
  }

  /** Blocks until it is healthy. If it ends meanwhile, restarts it, as a cluster does. */
  void awaitUp(Duration bound) {
    BoundedWait.until(
        bound,
        name + " was up, see " + log,
        () -> {
          boolean up = isUp();
          if (!up) {
            BoundedWait.pass(LOOK);
          }
          return up;
        });
  }

  private boolean isUp() {
    try {
      restartIfEnded();
      return HTTP.send(
                  HttpRequest.newBuilder(address().resolve("/actuator/health"))
                      .timeout(HEALTH)
                      .build(),
                  BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private synchronized void restartIfEnded() throws IOException {
    if (!process().isAlive()) {
      start();
    }
  }

  /** Asks it to end, as a deployment does, and starts it again. */
  synchronized void restart() throws IOException, InterruptedException {
    process().terminate();
    if (process().awaitEnd(GRACE_SECONDS) == -1) {
      throw new IllegalStateException(name + " did not end within its grace.");
    }
    start();
    awaitUp(START);
  }

  /** Kills it, and starts it again after a while. */
  synchronized void kill(Duration away) throws IOException, InterruptedException {
    process().close();
    Thread.sleep(away.toMillis());
    start();
    awaitUp(START);
  }
}
