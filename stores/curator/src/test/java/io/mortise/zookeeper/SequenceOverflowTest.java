package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.ZooKeeperServer;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.persistence.FileTxnLog;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Sequence numbers have 32 bits. Instead of making two thousand million nodes, the test writes a
 * transaction into the server's log as if they had been made.
 */
@SuppressWarnings("try") // Closing may be interrupted.
@Timeout(120)
class SequenceOverflowTest {
  private static final Duration LONG = TestServer.LONG;

  @TempDir private Path logs;

  private ZooKeeperServer server;

  @BeforeEach
  void start() {
    server =
        ZooKeeperServer.start(
            TestServer.setup()
                .with("dataLogDir", logs.toString())
                .withProperty("znode.container.checkIntervalMs", "600000"));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** The next node that is made in the directory gets that number. */
  private void setNextNumber(String directory, int next) throws Exception {
    long zxid =
        server
            .ask("srvr")
            .lines()
            .filter(line -> line.startsWith("Zxid: 0x"))
            .mapToLong(line -> Long.parseLong(line.substring("Zxid: 0x".length()), 16))
            .findFirst()
            .orElseThrow();
    server.kill();
    FileTxnLog log = new FileTxnLog(new File(logs.toFile(), "version-2"));
    CreateTxn txn =
        new CreateTxn(directory + "/passed", new byte[0], Ids.OPEN_ACL_UNSAFE, false, next);
    TxnHeader header = new TxnHeader(0, 0, zxid + 1, System.currentTimeMillis(), OpCode.create);
    log.append(new Request(header, txn, null));
    log.commit();
    log.close();
    server.restart();
    try (ZooKeeper client = TestServer.connect(server.address(), Duration.ofSeconds(20))) {
      client.delete(directory + "/passed", -1);
    }
  }

  private LockClient client(Scheme scheme) {
    return LockClient.builder()
        .url(scheme.url(server.address(), "/overflow"))
        .ttl(Duration.ofSeconds(20))
        .build();
  }

  @ParameterizedTest
  @EnumSource
  void givenNumbersThatComeToAnEnd_thenNobodyIsLetIn_untilThoseBeforeHaveLeft_andTheyBeginAnew(
      Scheme scheme) throws Exception {
    String directory =
        scheme == Scheme.ZK ? new NodeLayout("/overflow").lock(LockName.of("x")) : "/overflow/x";
    try (LockClient one = client(scheme);
        LockClient other = client(scheme)) {
      one.lock("x").acquireWithin(LONG).close();
      setNextNumber(directory, Integer.MAX_VALUE - 1_000_002);
      Lease first = one.lock("x").acquireWithin(LONG);
      CompletableFuture<Lease> second = other.lock("x").acquireAsync(LONG);
      BoundedWait.until(LONG, "one waits", () -> nodes(directory).size() == 2);
      // There is no number left for the third; it waits nevertheless.
      CompletableFuture<Lease> third =
          other.lock("x", LockOptions.DEFAULTS.withFair(true)).acquireAsync(LONG);
      long token = first.token();
      first.close();
      Lease next = second.get();
      assertThat(next.token()).isGreaterThan(token);
      assertThat(third).isNotDone();
      next.close();
      Lease last = third.get();
      assertThat(last.token()).isGreaterThan(next.token());
      assertThat(nodes(directory)).singleElement().asString().contains("00000000");
      last.close();
    }
  }

  private List<String> nodes(String directory) {
    try (ZooKeeper client = TestServer.connect(server.address(), Duration.ofSeconds(20))) {
      return client.getChildren(directory, false);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
