package io.mortise.zookeeper;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import io.mortise.testkit.server.JvmProcess;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.ZooKeeper;

/**
 * Another process that holds a lock until it is lost, and then writes a fenced node: its main
 * class, and the handle on it. It ends with its standard input, so that none outlives the test.
 */
final class FencedHolderProcess implements AutoCloseable {
  static final String HOLDS = "holds";
  static final String REFUSED = "lost, refused";

  private final JvmProcess process;

  FencedHolderProcess(String url, Duration ttl, String address, String fence, String guarded) {
    process =
        JvmProcess.start(
            FencedHolderProcess.class, url, Long.toString(ttl.toMillis()), address, fence, guarded);
  }

  /** The next line that it prints; blocks. */
  String line() {
    return process.line();
  }

  void pause() {
    process.pause();
  }

  void resume() {
    process.resume();
  }

  /** SIGKILL. */
  @Override
  public void close() {
    process.close();
  }

  /** Holds a lock, and writes after its loss. */
  @SuppressWarnings("try") // Closing may be interrupted.
  public static void main(String[] args) throws Exception {
    Thread parent = JvmProcess.endWithParent();
    Duration ttl = Duration.ofMillis(Long.parseLong(args[1]));
    CountDownLatch lost = new CountDownLatch(1);
    ZooKeeper client = TestServer.connect(args[2], Duration.ofSeconds(30));
    LockClient locks = LockClient.builder().url(args[0]).ttl(ttl).build();
    Lease lease = locks.lock("x").acquire();
    FencedWrites writes = ZkFence.under(client, args[3]).enter(lease);
    writes.setData(args[4], new byte[] {1}, -1);
    lease.onLost(loss -> lost.countDown());
    System.out.println(HOLDS);
    lost.await();
    try {
      writes.setData(args[4], new byte[] {2}, -1);
      System.out.println("written");
    } catch (StaleTokenException e) {
      System.out.println(lease.isValid() ? "valid" : REFUSED);
    }
    parent.join();
  }
}
