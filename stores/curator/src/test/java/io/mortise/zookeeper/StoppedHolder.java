package io.mortise.zookeeper;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * A process that holds a lock, is paused from outside for longer than its session lives, and then
 * writes unaware: first fenced, then naively without a fence.
 */
@SuppressWarnings("try") // Closing may be interrupted.
final class StoppedHolder implements AutoCloseable {
  private final Process process;
  private final BufferedReader said;

  private StoppedHolder(Process process) {
    this.process = process;
    this.said =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Starts it, and waits until it holds. */
  static StoppedHolder start(String url, Duration ttl, String servers, String lock, String path)
      throws IOException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            StoppedHolder.class.getName(),
            url,
            ttl.toString(),
            servers,
            lock,
            path);
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    StoppedHolder holder = new StoppedHolder(process);
    holder.hears("held");
    return holder;
  }

  private void hears(String word) throws IOException {
    String line = said.readLine();
    if (!word.equals(line)) {
      close();
      throw new IllegalStateException("Expected '" + word + "', not '" + line + "'.");
    }
  }

  void stop() throws Exception {
    signal("-STOP");
  }

  /**
   * Lets it run on and write; returns whether it was told of the loss first, and the results of the
   * fenced write and of the naive one.
   */
  List<String> goOn() throws Exception {
    signal("-CONT");
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
    // Null means that it has ended.
    return Arrays.asList(said.readLine(), said.readLine(), said.readLine());
  }

  private void signal(String signal) throws Exception {
    new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  /** The process itself. It ends with its input, at the latest. */
  public static void main(String[] arguments) throws Exception {
    String path = arguments[4];
    CountDownLatch connected = new CountDownLatch(1);
    // Its session outlives the pause: it does not prevent the stale write.
    try (ZooKeeper data =
            new ZooKeeper(
                arguments[2],
                120_000,
                event -> {
                  if (event.getState() == KeeperState.SyncConnected) {
                    connected.countDown();
                  }
                });
        LockClient locks =
            LockClient.builder().url(arguments[0]).ttl(Duration.parse(arguments[1])).build()) {
      connected.await(60, TimeUnit.SECONDS);
      Lease lease = locks.lock(arguments[3]).acquire();
      FencedWrites fenced = ZkFence.under(data, "/fences").enter(lease.fencingToken());
      System.out.println("held");
      if (System.in.read() < 0) {
        return;
      }
      System.out.println(lease.isValid() ? "believes" : "told");
      try {
        write(() -> fenced.setData(path, bytes("fenced"), -1));
        System.out.println("written");
      } catch (StaleTokenException e) {
        System.out.println("refused");
      }
      write(() -> data.setData(path, bytes("naive"), -1));
      System.out.println("written");
      System.in.read();
    }
  }

  /** A write that can be repeated. */
  @FunctionalInterface
  private interface Write {
    Stat run() throws KeeperException, InterruptedException;
  }

  /** Its connection may break after the pause. */
  private static void write(Write write) throws KeeperException, InterruptedException {
    while (true) {
      try {
        write.run();
        return;
      } catch (KeeperException.ConnectionLossException e) {
        // Retried, until the session is over at the latest.
      }
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
