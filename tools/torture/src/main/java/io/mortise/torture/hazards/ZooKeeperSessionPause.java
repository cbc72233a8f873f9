package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
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
  private static final String LOCK = "mortise-hazard/account";

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    ZooKeeperServer server =
        hazardContext.open(
            ZooKeeperServer.start(ZooKeeperServer.Setup.single().with("tickTime", "500")));
    naive(hazardContext, server);
    mortise(hazardContext, server);
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

  private static void mortise(HazardContext hazardContext, ZooKeeperServer server)
      throws Exception {
    hazardContext.chapter("Mortise over the same ensemble, TTL 4 s");
    ProtectedAccount protectedAccount = new ProtectedAccount(100);
    String url = server.url();
    LockClient b = hazardContext.client(url, "B", TTL);
    HolderProcess a = hazardContext.open(new HolderProcess());
    long first = Long.parseLong(a.ask("mortise", url, Long.toString(TTL.toMillis()), LOCK));
    protectedAccount.write(protectedAccount.read(), first);
    long read = protectedAccount.read();
    hazardContext.say("A", "has the lock, token " + first + "; shows it to the account, reads 100");
    a.stop();
    hazardContext.say("A", "is stopped (SIGSTOP to process " + a.pid() + ")");
    try (Lease lease = b.lock(LOCK).acquireWithin(Duration.ofSeconds(25))) {
      long second = lease.token();
      hazardContext.say(
          "B", "gets the lock, token " + second + ", the transaction that made its node");
      hazardContext.expect(second > first, "the token rises");
      hazardContext.expect(
          protectedAccount.write(protectedAccount.read() - 30, second),
          "the account takes the write of B");
      a.goOn();
      boolean valid = Boolean.parseBoolean(a.ask("valid"));
      hazardContext.say(
          "A",
          "goes on, and asks its lease first: isValid() is " + valid + ", without asking a server");
      hazardContext.expect(!valid, "the lease of A is lost when it wakes up");
      boolean taken = protectedAccount.write(read - 10, first);
      hazardContext.say("A", "does not care, and writes 90 with its token");
      hazardContext.expect(!taken, "the account refuses the write of A");
      hazardContext.say(
          "account", "refuses it: it has seen a later token; it has " + protectedAccount.read());
    }
    hazardContext.conclude("held, as told: A was told, and its late write was refused");
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
