package io.mortise.testkit.server;

/**
 * A server in a process of its own, on a port of the loopback. Its folder and its process are gone
 * after {@link #close()}, and at the latest when the JVM ends. For one thread.
 */
public abstract class LocalServer implements AutoCloseable {
  final ServerProcess process;
  final int port;

  LocalServer(ServerProcess process, int port) {
    this.process = process;
    this.port = port;
  }

  /** The port for plain connections. */
  public int port() {
    return port;
  }

  /** Where a store finds it, with all that is needed to be let in. */
  public abstract String url();

  /** Ends it and all its connections without warning, as kill -9 of all its processes does. */
  public void kill() {
    process.kill();
  }

  /** Starts it again on the same port and data, after {@link #kill()} or while it runs. */
  public void restart() {
    process.restart();
  }

  /** Stops its processes from running; connections stay open, and nobody answers. */
  public void pause() {
    process.pause();
  }

  /** Lets them run on. */
  public void resume() {
    process.resume();
  }

  @Override
  public void close() {
    process.close();
  }
}
