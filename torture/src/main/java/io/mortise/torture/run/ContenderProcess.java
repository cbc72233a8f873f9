package io.mortise.torture.run;

import io.mortise.testkit.server.Relay;
import io.mortise.torture.process.ChildJvm;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A client process and its way to the server. For one thread. */
final class ContenderProcess implements AutoCloseable {
  private final int number;
  private final @Nullable Relay relay;
  private final ChildJvm process;

  /**
   * Starts one; returns when it has connected.
   *
   * @param relay through which it reaches the server; null if it does not
   */
  ContenderProcess(int number, @Nullable Relay relay, Map<String, String> settings, Path log) {
    this.number = number;
    this.relay = relay;
    process =
        new ChildJvm(
            List.of(),
            List.of("-Xmx128m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"),
            ContenderMain.class,
            ProcessBuilder.Redirect.appendTo(log.toFile()));
    settings.forEach((name, value) -> process.tell(name + "=" + value));
    process.tell("");
    expect("ready");
  }

  private void expect(String word) {
    String line = process.answer();
    if (!word.equals(line)) {
      throw new IllegalStateException(
          "Client process " + number + " said '" + line + "' instead of '" + word + "'.");
    }
  }

  int number() {
    return number;
  }

  @Nullable Relay relay() {
    return relay;
  }

  /** SIGSTOP. */
  void pause() {
    process.pause();
  }

  /** SIGCONT. */
  void resume() {
    process.resume();
  }

  /** SIGKILL. */
  void kill() {
    process.kill();
  }

  /** Tells it to finish. */
  void tellToFinish() {
    process.tell("stop");
  }

  /** Waits until it has given all back. */
  void awaitFinish() {
    expect("done");
  }

  @Override
  public void close() {
    process.close();
    if (relay != null) {
      relay.close();
    }
  }
}
