package io.mortise.bench.subject;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * An ephemeral node per lock. Transactions combine the requests of all threads of the process, with
 * several in flight, as Mortise's do. The limit for many threads with a lock each, but useless as a
 * lock: it has no queue and no token, and a failed transaction fails for all its threads.
 */
final class BatchedNodeLock implements Subject {
  private static final byte[] NOTHING = {};

  /** The most requests in a transaction; also the number that justifies one more in flight. */
  private static final int MOST = 64;

  private static final int ENOUGH = 16;
  private static final int ON_THEIR_WAY = 4;

  private final ZooKeeper client;
  private final ConcurrentLinkedQueue<NodeRequest> asked = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private int onTheirWay;

  BatchedNodeLock(StoreUrls storeUrls) throws Exception {
    client = SequentialNodeLock.connect(storeUrls);
  }

  private static final class NodeRequest {
    final Op op;
    final Thread thread = Thread.currentThread();
    volatile int code = Integer.MIN_VALUE;

    NodeRequest(Op op) {
      this.op = op;
    }

    void answer(int answered) {
      code = answered;
      LockSupport.unpark(thread);
    }

    void await() throws KeeperException {
      while (code == Integer.MIN_VALUE) {
        LockSupport.park(this);
      }
      if (code != 0) {
        throw KeeperException.create(Code.get(code));
      }
    }
  }

  private void ask(Op op) throws KeeperException {
    NodeRequest ask = new NodeRequest(op);
    asked.add(ask);
    waiting.incrementAndGet();
    send();
    ask.await();
  }

  private synchronized void send() {
    while (onTheirWay < ON_THEIR_WAY && waiting.get() >= (onTheirWay == 0 ? 1 : ENOUGH)) {
      List<NodeRequest> batch = new ArrayList<>();
      List<Op> ops = new ArrayList<>();
      NodeRequest next;
      while (batch.size() < MOST && (next = asked.poll()) != null) {
        batch.add(next);
        ops.add(next.op);
      }
      if (batch.isEmpty()) {
        return;
      }
      waiting.addAndGet(-batch.size());
      onTheirWay++;
      client.multi(ops, (rc, path, context, results) -> answered(batch, rc), null);
    }
  }

  private void answered(List<NodeRequest> batch, int rc) {
    synchronized (this) {
      onTheirWay--;
    }
    send();
    for (NodeRequest ask : batch) {
      ask.answer(rc);
    }
  }

  @Override
  public LockHandle lockHandle(String lock) throws KeeperException, InterruptedException {
    String parent = "/batches/" + lock;
    SequentialNodeLock.make(client, parent);
    String node = parent + "/held";
    return new LockHandle() {
      @Override
      public boolean take(long waitMillis) throws KeeperException {
        ask(Op.create(node, NOTHING, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL));
        return true;
      }

      @Override
      public void release() throws KeeperException {
        ask(Op.delete(node, -1));
      }
    };
  }

  @Override
  public void close() {
    SequentialNodeLock.close(client);
  }
}
