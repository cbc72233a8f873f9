package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.server.ZooKeeperServer;
import java.time.Duration;

/** A holder of an ephemeral node is stopped for longer than its ZooKeeper session lives. */
final class ZkSessionGc implements Hazard.Story {
  private static final Duration TTL = Duration.ofSeconds(4);
  private static final String LOCK = "mortise-hazard/account";

  @Override
  public void play(Stage stage) throws Exception {
    ZooKeeperServer server =
        stage.open(ZooKeeperServer.start(ZooKeeperServer.Setup.single().with("tickTime", "500")));
    naive(stage, server);
    mortise(stage, server);
  }

  private static void naive(Stage stage, ZooKeeperServer server) throws Exception {
    stage.chapter("The naive lock: an ephemeral node of a session of 4 s");
    Account account = new Account(100);
    String millis = Long.toString(TTL.toMillis());
    Player a = stage.open(new Player());
    stage.expect(
        a.ask("znode", server.address(), millis, "/account").equals("ok"), "A makes the node");
    long read = account.read();
    stage.say("A", "has made the node, reads 100, wants to take 10");
    a.stop();
    stage.say("A", "is stopped (SIGSTOP to process " + a.pid() + ", as a garbage collector would)");
    ZNodeLock b = stage.open(new ZNodeLock(server.address(), (int) TTL.toMillis()));
    stage.await("the session of A expires", () -> b.lock("/account"));
    stage.say("B", "makes the node, as the session of A is over; takes 30");
    account.write(account.read() - 30);
    a.goOn();
    stage.say(
        "A", "goes on where it was; that its session is over it will hear from its library later");
    account.write(read - 10);
    stage.say(
        "account",
        "has " + account.read() + " instead of 60: what B took is lost, and nobody knows");
    stage.expect(account.read() == 90, "the write of B is lost");
    stage.conclude("broke, as told");
  }

  private static void mortise(Stage stage, ZooKeeperServer server) throws Exception {
    stage.chapter("Mortise over the same ensemble, TTL 4 s");
    Account account = new Account(100);
    String url = server.url();
    LockClient b = stage.client(url, "B", TTL);
    Player a = stage.open(new Player());
    long first = Long.parseLong(a.ask("mortise", url, Long.toString(TTL.toMillis()), LOCK));
    account.write(account.read(), first);
    long read = account.read();
    stage.say("A", "has the lock, token " + first + "; shows it to the account, reads 100");
    a.stop();
    stage.say("A", "is stopped (SIGSTOP to process " + a.pid() + ")");
    try (Lease lease = b.lock(LOCK).acquireWithin(Duration.ofSeconds(25))) {
      long second = lease.token();
      stage.say("B", "gets the lock, token " + second + ", the transaction that made its node");
      stage.expect(second > first, "the token rises");
      stage.expect(account.write(account.read() - 30, second), "the account takes the write of B");
      a.goOn();
      boolean valid = Boolean.parseBoolean(a.ask("valid"));
      stage.say(
          "A",
          "goes on, and asks its lease first: isValid() is " + valid + ", without asking a server");
      stage.expect(!valid, "the lease of A is lost when it wakes up");
      boolean taken = account.write(read - 10, first);
      stage.say("A", "does not care, and writes 90 with its token");
      stage.expect(!taken, "the account refuses the write of A");
      stage.say("account", "refuses it: it has seen a later token; it has " + account.read());
    }
    stage.conclude("held, as told: A was told, and its late write was refused");
  }
}
