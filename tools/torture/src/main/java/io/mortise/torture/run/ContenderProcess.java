package io.mortise.torture.run;

import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.torture.process.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A client process with its proxies to the servers. For one thread. */
final class ContenderProcess implements AutoCloseable {
  private final int number;
  private final List<FaultInjectionProxy> faultInjectionProxies;
  private final ChildJvm process;

  /**
   * Starts a client; returns when it has connected.
   *
   * @param faultInjectionProxies through which it reaches the servers
   * @param heap in megabytes
   * @param folder for its error output, and for files left after a kill
   */
  ContenderProcess(
      int number,
      List<FaultInjectionProxy> faultInjectionProxies,
      Map<String, String> settings,
      int heap,
      Path folder) {
    this.number = number;
    this.faultInjectionProxies = List.copyOf(faultInjectionProxies);
    process =
        new ChildJvm(
            List.of(),
            // Nearly all of the heap is old generation: a growing heap would be collected each
            // time.
            List.of(
                "-Xms" + heap + "m",
                "-Xmx" + heap + "m",
                "-Xmn32m",
                "-Djava.io.tmpdir=" + folder.toAbsolutePath(),
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"),
            ContenderMain.class,
            ProcessBuilder.Redirect.appendTo(folder.resolve("clients.err").toFile()));
    settings.forEach((name, value) -> process.tell(name + "=" + value));
    process.tell("");
    expect("ready");
  }

  private void expect(String word) {
    String line = process.answer();
    if (line == null) {
      throw new IllegalStateException(
          "Client process %s ended before it said '%s': see clients.err.".formatted(number, word));
    }
    if (!word.equals(line)) {
      throw new IllegalStateException(
          "Client process " + number + " said '" + line + "' instead of '" + word + "'.");
    }
  }

  int number() {
    return number;
  }

  /** Its proxies to the servers. */
  List<FaultInjectionProxy> relays() {
    return faultInjectionProxies;
  }

  /** Fills its heap with garbage that takes about this time to collect. Blocks. */
  void fill(Duration pause) {
    process.tell("fill " + pause.toMillis());
    expect("filled");
  }

  /** Has it collect that, which pauses it. Blocks; returns the pause that it reports. */
  Duration collect() {
    process.tell("collect");
    String line = process.answer();
    if (line == null) {
      throw new IllegalStateException("Client process " + number + " ended while it collected.");
    }
    return Duration.ofMillis(Long.parseLong(line));
  }

  /** Sends SIGSTOP. */
  void pause() {
    process.pause();
  }

  /** Sends SIGCONT. */
  void resume() {
    process.resume();
  }

  /** Sends SIGKILL. */
  void kill() {
    process.kill();
  }

  /** Tells it to finish. */
  void tellToFinish() {
    process.tell("stop");
  }

  /** Waits until it has released all locks. */
  void awaitFinish() {
    expect("done");
  }

  @Override
  public void close() {
    process.close();
    faultInjectionProxies.forEach(FaultInjectionProxy::close);
  }
}
