package io.mortise.torture.hazards;

import io.mortise.testserver.ZooKeeperServer;
import java.io.IOException;
import java.time.Duration;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** A holder of an ephemeral node is paused for longer than its ZooKeeper session's timeout. */
final class ZooKeeperSessionPause implements Hazard.HazardScenario {
  private static final Duration TTL = Duration.ofSeconds(4);

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    ZooKeeperServer server =
        hazardContext.open(
            ZooKeeperServer.start(ZooKeeperServer.Setup.single().with("tickTime", "500")));
    naive(hazardContext, server);
    hazardContext.chapter("Mortise over the same ensemble, TTL 4 s");
    GcPause.mortise(
        hazardContext,
        server.url(),
        TTL,
        ", the transaction that made its node",
        ", without asking a server");
  }

  private static void naive(HazardContext hazardContext, ZooKeeperServer server) throws Exception {
    hazardContext.chapter("The naive lock: an ephemeral node of a session of 4 s");
    ProtectedAccount protectedAccount = new ProtectedAccount(100);
    String millis = Long.toString(TTL.toMillis());
    HolderProcess a = hazardContext.open(new HolderProcess());
    hazardContext.expect(
        a.ask("znode", server.address(), millis, "/account").equals("ok"), "A makes the node");
    long read = protectedAccount.read();
    hazardContext.say("A", "has made the node, reads 100, wants to take 10");
    a.stop();
    hazardContext.say(
        "A", "is stopped (SIGSTOP to process " + a.pid() + ", as a garbage collector would)");
    NaiveZooKeeperLock b =
        hazardContext.open(new NaiveZooKeeperLock(server.address(), (int) TTL.toMillis()));
    hazardContext.await("the session of A expires", () -> b.lock("/account"));
    hazardContext.say("B", "makes the node, as the session of A is over; takes 30");
    protectedAccount.write(protectedAccount.read() - 30);
    a.goOn();
    hazardContext.say(
        "A", "goes on where it was; that its session is over it will hear from its library later");
    protectedAccount.write(read - 10);
    hazardContext.say(
        "account",
        "has " + protectedAccount.read() + " instead of 60: what B took is lost, and nobody knows");
    hazardContext.expect(protectedAccount.read() == 90, "the write of B is lost");
    hazardContext.conclude("broke, as told");
  }

  /** The naive lock of ZooKeeper: the client that creates an ephemeral node has it. Thread-safe. */
  static final class NaiveZooKeeperLock implements AutoCloseable {
    private final ZooKeeper client;

    NaiveZooKeeperLock(String servers, int sessionMillis) throws IOException {
      client = new ZooKeeper(servers, sessionMillis, event -> {});
    }

    /** Creates the node; false if it exists. */
    boolean lock(String path) {
      try {
        client.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        return true;
      } catch (KeeperException.NodeExistsException held) {
        return false;
      } catch (KeeperException e) {
        throw new IllegalStateException("ZooKeeper does not answer.", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("Interrupted.", e);
      }
    }

    @Override
    public void close() {
      try {
        client.close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
